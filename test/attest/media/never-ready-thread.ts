// A thread that can't even start.

throw new Error('a library is missing')
