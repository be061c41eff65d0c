"""A sender of AMQP 1.0 messages (OASIS standard, 2012); no maintained client of that version comes as a wheel."""
