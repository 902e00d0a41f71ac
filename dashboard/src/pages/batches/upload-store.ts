// What of an upload is done, in IndexedDB: it outlives the tab. Files are known by their hash, so that the same folder, chosen
// again, goes on where it stopped.

export interface UploadPlan {
  /** User and environment. */
  scope: string
  /** The folder or the first file. */
  name: string
  total: number
  startedAt: number
  choice: ClaimChoice
}

/** Which claim a file belongs to. */
export interface ClaimChoice {
  by: 'file' | 'folder' | 'one' | 'none'
  /** With `one`. */
  reference: string
  line: string
}

export interface FileRecord {
  /** The scope and the print. */
  key: string
  scope: string
  /** SHA-256 in hexadecimal digits, or name, size and time where the browser computes no hash of it. */
  print: string
  path: string
  at: number
  /** Where it was uploaded. */
  media?: { mediaId: string; isVideo: boolean }
  /** Why it was not. */
  refusal?: { code: string; detail: string }
}

/** What the service does not know of a batch: the names of the files. */
export interface BatchRecord {
  batchId: string
  at: number
  /** The file, or the line of the file of lines, by the line that was sent: from 1. */
  sources: string[]
  refused: { source: string; code: string; detail: string }[]
}

export type UploadStore = Awaited<ReturnType<typeof openUploadStore>>

const NAME = 'countersign.uploads'
// The service deletes media that no capture refers to after 7 days.
const KEPT_MS = 6 * 86_400_000
const BATCH_KEPT_MS = 90 * 86_400_000

/** @throws {Error} where the browser keeps nothing, such as in some private windows. */
export async function openUploadStore() {
  const opening = indexedDB.open(NAME, 1)
  opening.onupgradeneeded = () => {
    const { result } = opening
    result.createObjectStore('plans', { keyPath: 'scope' })
    result.createObjectStore('files', { keyPath: 'key' }).createIndex('scope', 'scope')
    result.createObjectStore('batches', { keyPath: 'batchId' })
  }
  const db = await answerOf(opening)
  const store = (name: 'plans' | 'files' | 'batches', mode: IDBTransactionMode) =>
    db.transaction(name, mode).objectStore(name)

  return {
    findPlan: (scope: string): Promise<UploadPlan | undefined> => answerOf(store('plans', 'readonly').get(scope)),
    savePlan: (plan: UploadPlan) => answerOf(store('plans', 'readwrite').put(plan)),
    removePlan: (scope: string) => answerOf(store('plans', 'readwrite').delete(scope)),

    /** The files of a scope by their prints, without those that the service may have deleted since. */
    async findFiles(scope: string): Promise<Map<string, FileRecord>> {
      const files: FileRecord[] = await answerOf(store('files', 'readonly').index('scope').getAll(scope))
      const fresh = files.filter(({ at }) => Date.now() - at < KEPT_MS)
      return new Map(fresh.map((file) => [file.print, file]))
    },
    saveFile: (file: Omit<FileRecord, 'key'>) =>
      answerOf(store('files', 'readwrite').put({ ...file, key: `${file.scope} ${file.print}` })),
    async removeFiles(scope: string): Promise<void> {
      const files = store('files', 'readwrite')
      for (const key of await answerOf(files.index('scope').getAllKeys(scope))) files.delete(key)
    },

    findBatch: (batchId: string): Promise<BatchRecord | undefined> =>
      answerOf(store('batches', 'readonly').get(batchId)),
    async saveBatch(batch: BatchRecord): Promise<void> {
      const batches = store('batches', 'readwrite')
      const all: BatchRecord[] = await answerOf(batches.getAll())
      for (const { batchId, at } of all) if (Date.now() - at > BATCH_KEPT_MS) batches.delete(batchId)
      await answerOf(batches.put(batch))
    },
    close: () => db.close(),
  }
}

function answerOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
