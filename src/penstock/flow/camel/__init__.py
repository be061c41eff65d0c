"""Runs flows on Apache Camel, in a Java process each."""
