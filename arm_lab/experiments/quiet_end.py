"""Imported first by the process that workers are forked from: Ctrl-C ends both without a word."""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # blocked while Python started
