// Where the bytes of media are kept. A blob is named by its own SHA-256 inside its tenant, so the same bytes are one
// blob, and a name can't belong to other bytes: every store hashes what it received and never trusts a claimed digest.

import type { Readable } from 'node:stream'
import type { Scope } from '#src/platform/ids.ts'

export interface BlobStore {
  /**
   * Streams `source` into the store. When it resolves, the bytes survive a crash of the process and of the machine, so
   * a row that names them may be committed. When it rejects, nothing is left behind. Putting bytes that are already
   * there succeeds and replaces them by themselves.
   * @throws {Failure} `payload_too_large` beyond `maxBytes`; `service_unavailable` when the store is full. Whatever
   * `source` or a hook throws is rethrown unchanged.
   */
  put(scope: Scope, source: BlobSource, options: PutOptions): Promise<StoredBlob>
  /** Keeps a derivative of a blob (a thumbnail) beside it. It may be lost and made again; `delete` deletes it too. */
  putVariant(scope: Scope, sha256: string, variant: string, bytes: Uint8Array): Promise<void>
  /** `undefined` when there is no such blob. The caller must read the stream or destroy it. */
  openRead(scope: Scope, sha256: string, options?: ReadOptions): Promise<OpenBlob | undefined>
  exists(scope: Scope, sha256: string): Promise<boolean>
  /** Erases the blob and its variants, or one variant alone. A missing one is no error. */
  delete(scope: Scope, sha256: string, options?: { variant?: string }): Promise<void>
  /**
   * The blob as a local file, for readers that need random access: it may be gone when `work` has ended.
   * @throws {Error} when there is no such blob, or it can't be fetched now.
   */
  withLocalFile<R>(scope: Scope, sha256: string, work: (path: string) => Promise<R>): Promise<R>
  /** The hashes under which the tenant has anything, page by page: also those of which only a variant is left. */
  list(scope: Scope): AsyncIterable<string[]>
  /** When something was last stored under this hash; undefined when there is nothing. */
  storedAt(scope: Scope, sha256: string): Promise<Date | undefined>
  /** @throws {Error} with a sentence for the operator when the store's address or rights can't be right. */
  check(): Promise<void>
  /**
   * For each process, before its first use: removes local files of processes that were killed, which no other machine or
   * container can reach. Returns how many.
   */
  start(): Promise<number>
  /** Removes remains of uploads whose processes crashed a day ago or more. Returns how many. */
  sweep(): Promise<number>
  close(): Promise<void>
}

export type BlobSource = AsyncIterable<Uint8Array>

export interface PutOptions {
  maxBytes: number
  /** The source gives its chunks away (a request's body does): their memory may be freed once they are stored. */
  ownsChunks?: boolean
  /**
   * Called with the first bytes while the rest arrives: again each time there are four times as many, up to 256 KiB,
   * and when the source has ended, until it returns true (seen enough). Throwing ends the upload early.
   */
  onHead?: (head: Uint8Array, isWhole: boolean) => boolean
  /** Called with the whole content in a local temporary file, before it is named. Throwing discards it. */
  onStaged?: (staged: StagedBlob) => Promise<void>
}

export interface StoredBlob {
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  size: number
}

export interface StagedBlob extends StoredBlob {
  path: string
}

export interface ReadOptions {
  /** Bytes `first` to `last`, both inclusive, from 0. The caller has checked them against the size. */
  range?: { first: number; last: number }
  variant?: string
}

export interface OpenBlob {
  stream: Readable
  /** Size of the whole blob, whatever the range. */
  size: number
}
