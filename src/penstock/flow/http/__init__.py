"""HTTP as flows use it: requests, and the server that flows and hosted APIs share."""
