"""What areas need of each other, as interfaces, one file for each noun.

The server fills each port with the area that provides it.
"""
