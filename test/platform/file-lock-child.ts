// A process that tries once to take the lock of a file, says whether it has it, and keeps it until it is killed.

import { takeFileLock } from '#src/platform/file-lock.ts'

process.send?.(takeFileLock(process.argv[2] ?? '') === undefined ? 'refused' : 'held')
setInterval(() => {}, 600_000)
