// The captures of one run in the order of their input, on disk: what was checked is what is sent and reported, even
// when the input changes meanwhile.

import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Entry } from './entry.ts'

export interface Plan {
  /** @returns the entry's final key: captures that are identical to the byte are still two lines. */
  add(entry: Entry): Promise<string>
  /** Each call starts from the first entry. Nothing may be added after the first call. */
  entries(): AsyncGenerator<Entry, void>
  remove(): Promise<void>
}

const WRITE_CHARACTERS = 256 * 1024

export async function createPlan(path: string): Promise<Plan> {
  await rm(path, { force: true })
  const file: FileHandle = await open(path, 'wx', 0o600)
  const seen = new Map<string, number>()
  let waiting = ''

  async function flush(): Promise<void> {
    if (waiting === '') return
    const text = waiting
    waiting = ''
    await file.appendFile(text)
  }

  return {
    async add(entry) {
      const count = seen.get(entry.key) ?? 0
      seen.set(entry.key, count + 1)
      const key = count === 0 ? entry.key : `${entry.key}.${count}`
      waiting += `${JSON.stringify({ ...entry, key })}\n`
      if (waiting.length >= WRITE_CHARACTERS) await flush()
      return key
    },
    async *entries() {
      seen.clear()
      await flush()
      for await (const line of createInterface({ input: createReadStream(path) })) yield JSON.parse(line)
    },
    async remove() {
      await file.close()
      await rm(path, { force: true })
    },
  }
}
