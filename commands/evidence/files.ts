import { readFile, stat } from 'node:fs/promises'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { usageError } from '../sentence.ts'
import { keySetOf } from './keys.ts'

// A packet of a hundred photos has some megabytes; its document is twice as large.
const MAX_BYTES = 128 * 1024 * 1024

/** @throws a usage error when the file does not exist, or is larger than any packet. */
export async function readPacketFile(path: string): Promise<Buffer> {
  return readBounded(path, MAX_BYTES)
}

/** @throws a usage error when it contains no keys. */
export async function readKeysFile(path: string): Promise<KeySet> {
  return keySetOf((await readBounded(path, 1024 * 1024)).toString('utf8'), `--keys ${path}`)
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || !found.isFile()) throw usageError(`${path}: there is no such file.`)
  if (found.size > maxBytes) throw usageError(`${path} has ${found.size} bytes: it is no file of this kind.`)
  return readFile(path)
}
