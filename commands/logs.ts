import { closeSync, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

export interface LogFile {
  file: string
  write(line: string): void
}

// Two files of this size per process: days of a developer's use, or an hour of a heavy test.
const MAX_BYTES = 20_000_000

/** A log that starts again when it has grown to `maxBytes`; the previous file stays beside it as `<file>.1`. */
export function openLog(file: string, maxBytes = MAX_BYTES): LogFile {
  const open = () => openSync(file, 'a', 0o600)
  let descriptor = open()
  let size = fstatSync(descriptor).size

  const renew = () => {
    closeSync(descriptor)
    // Two deployments on the same data write to the same file: the other one may have moved it already.
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= maxBytes) renameSync(file, `${file}.1`)
    descriptor = open()
    size = fstatSync(descriptor).size
  }
  return {
    file,
    write(line) {
      try {
        if (size >= maxBytes) renew()
        size += writeSync(descriptor, line)
      } catch {
        // A full disk loses log lines, not the service.
      }
    },
  }
}
