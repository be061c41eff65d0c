"""What is published, as OpenAPI documents: one of each version, and one of all."""
