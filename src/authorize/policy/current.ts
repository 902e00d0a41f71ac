// The policy that applies now, compiled. A version never changes, so that a compiled policy is kept under the digest of
// its document: every decision reads the version anew, and few compile.

import { LRUCache } from 'lru-cache'
import type { Tx } from '#src/platform/db/database.ts'
import { digestOf } from '#src/platform/http/documents.ts'
import { type CompiledPolicy, compilePolicy } from './compile.ts'
import { DEFAULT_DOCUMENT, type PolicyDocument } from './document.ts'
import { partsOf } from './forms.ts'
import { findCurrentDigest, findVersion, type PolicyVersion } from './rows.ts'

export interface CurrentCompiled {
  /** 0: the defaults. */
  version: number
  /** SHA-256 of the document's canonical JSON, hex. */
  digest: string
  compiled: CompiledPolicy
}

export interface PolicyReader {
  /**
   * The policy of the transaction's account and environment.
   * @param found What `CURRENT_DIGEST` selected in the same transaction, null for no row; read here when absent.
   */
  readPolicy(tx: Tx, found?: Pick<PolicyVersion, 'version' | 'digest'> | null): Promise<CurrentCompiled>
  /** The compiled document, from the cache if it is there. @throws {Error} when it does not have its digest. */
  compiledOf(document: PolicyDocument, digest: string): CompiledPolicy
  /** Compiles a document that is about to be stored. Returns its digest. */
  compileNew(document: PolicyDocument): string
}

// Weight of the cached policies of all accounts together. A comparison takes some 0.5 KB, and the caches of a regular
// expression up to 128 KB.
const MAX_WEIGHT = 100_000
const PATTERN_WEIGHT = 200

const DEFAULT_DIGEST = digestOf(DEFAULT_DOCUMENT)

/** The defaults as version 0. */
export const DEFAULT_VERSION: PolicyVersion = {
  version: 0,
  document: DEFAULT_DOCUMENT,
  digest: DEFAULT_DIGEST,
  rolledBackTo: null,
  changedBy: null,
  createdAt: null,
}

export function createPolicyReader({ maxWeight = MAX_WEIGHT }: { maxWeight?: number } = {}): PolicyReader {
  const cache = new LRUCache<string, CompiledPolicy>({
    maxSize: maxWeight,
    sizeCalculation: ({ document }) => weightOf(document),
  })

  // A long document takes milliseconds to be read and compiled: those who need it at the same moment share that.
  const loading = new Map<string, Promise<CompiledPolicy>>()

  function compiledOf(document: PolicyDocument, digest: string): CompiledPolicy {
    const known = cache.get(digest)
    if (known !== undefined) return known
    // A row that was changed below the service decides nothing, and least of all for others with the same digest.
    if (digestOf(document) !== digest) throw new Error(`a policy was changed: it does not have its digest ${digest}`)
    return compileAs(document, digest)
  }

  function compileAs(document: PolicyDocument, digest: string): CompiledPolicy {
    const compiled = compilePolicy(document)
    cache.set(digest, compiled)
    return compiled
  }

  async function loadOnce(tx: Tx, version: number, digest: string): Promise<CompiledPolicy> {
    for (let other = loading.get(digest); other !== undefined; other = loading.get(digest)) {
      // What fails in the transaction of another is tried in this one.
      const shared = await other.catch(() => undefined)
      if (shared !== undefined) return shared
    }
    const own = load(tx, version, digest).finally(() => loading.delete(digest))
    loading.set(digest, own)
    return own
  }

  async function load(tx: Tx, version: number, digest: string): Promise<CompiledPolicy> {
    const { document } = version === 0 ? DEFAULT_VERSION : await getDocument(tx, version)
    return compiledOf(document, digest)
  }

  return {
    compiledOf,
    compileNew(document) {
      const digest = digestOf(document)
      if (!cache.has(digest)) compileAs(document, digest)
      return digest
    },
    async readPolicy(tx, found) {
      const { version, digest } = (found === undefined ? await findCurrentDigest(tx) : found) ?? DEFAULT_VERSION
      return { version, digest, compiled: cache.get(digest) ?? (await loadOnce(tx, version, digest)) }
    },
  }
}

async function getDocument(tx: Tx, version: number): Promise<PolicyVersion> {
  const row = await findVersion(tx, version)
  if (row === undefined) throw new Error(`version ${version} of the policy is gone, and versions never go`)
  return row
}

function weightOf({ rules }: PolicyDocument): number {
  let weight = 1
  for (const { when } of rules) {
    weight += 1
    for (const { condition } of partsOf(when)) weight += condition.op === 'matches' ? PATTERN_WEIGHT : 1
  }
  return weight
}
