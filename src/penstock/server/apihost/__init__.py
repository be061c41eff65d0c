"""`penstock apihost`: APIs of packages hosted by one process, told over HTTP what to host, without persistence."""
