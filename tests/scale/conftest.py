"""The store that several files of tests share."""

from test_s3 import client, store  # noqa: F401
