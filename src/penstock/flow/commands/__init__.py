"""Commands and jobs: started without a shell, read, ended with all they started."""
