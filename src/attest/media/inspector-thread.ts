// The inspector's worker thread; it handles one request at a time and keeps no state between two of them.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '#src/platform/priority.ts'
import { withSource } from './byte-source.ts'
import { scanForC2pa } from './c2pa-scan.ts'
import { type FileFacts, readImageFacts } from './exif.ts'
import type { Inspection, ThreadAnswer } from './threads.ts'

export interface ThreadRequest {
  path: string
  owner: string
}

lowerThreadPriority()
parentPort?.on('message', async (request: ThreadRequest) => {
  answer({ op: 'done', inspection: await inspect(request) })
})
answer({ op: 'ready' })

async function inspect({ path }: ThreadRequest): Promise<Inspection<FileFacts>> {
  try {
    return { ok: true, value: { ...(await readImageFacts(path)), c2pa: withSource(path, scanForC2pa) } }
  } catch (error) {
    if (!(await isReadable(path))) {
      return { ok: false, code: 'missing', detail: 'The file is not there, or can not be opened.' }
    }
    // The library's message can hold the path, which callers must not see.
    const reason = error instanceof Error ? error.message.replaceAll(path, 'the file') : 'unknown'
    return { ok: false, code: 'unreadable', detail: reason.slice(0, 200) }
  }
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}

function answer(message: ThreadAnswer<FileFacts>): void {
  parentPort?.postMessage(message)
}
