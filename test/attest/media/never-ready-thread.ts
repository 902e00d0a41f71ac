// A thread that fails to start.

throw new Error('a library is missing')
