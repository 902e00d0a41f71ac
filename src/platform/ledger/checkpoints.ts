// Signs the state of each log that has grown: a reader who keeps a checkpoint can prove later that the log was changed. Nothing is
// signed that contradicts the stored tree or the checkpoint before.

import { CHECKPOINT_TYP, type CheckpointClaims } from '#client/verify/checkpoint.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { rootOf, treeOf } from './merkle.ts'
import { frontierRanges } from './proofs.ts'
import {
  type Checkpoint,
  findCheckpoints,
  findUnsigned,
  hashRanges,
  insertCheckpoints,
  type UnsignedHead,
} from './tree-rows.ts'

const CHECKPOINT_EVERY_SECONDS = 60
const BATCH = 50

interface CheckpointerDeps {
  db: Pick<Database, 'system'>
  signingKeys: Pick<SigningKeys, 'signRecord' | 'ensure'>
  now: () => Date
  log: Pick<Log, 'error'>
  minSeconds?: number
}

/** Signs what is due, and returns how many checkpoints it added. Several processes may do it at once. */
export function createCheckpointer(deps: CheckpointerDeps) {
  const { db, signingKeys, log, minSeconds = CHECKPOINT_EVERY_SECONDS } = deps
  let hasKeys = false

  return async (signal?: AbortSignal): Promise<number> => {
    // `web` makes the keys at its start, which may come later.
    if (!hasKeys) await signingKeys.ensure()
    hasKeys = true
    // A damaged log stays due, and those behind it must not wait for its repair.
    const damaged: Scope[] = []
    for (let added = 0; ; ) {
      const heads = await db.system('checkpoints', (tx) => findUnsigned(tx, minSeconds, BATCH, damaged))
      const signed: (Scope & Checkpoint)[] = []
      for (const head of heads) {
        const reason = await findContradiction(db, head)
        if (reason === undefined) signed.push(await sign(deps, head))
        else {
          log.error({ account: head.accountId, environment: head.environment, reason }, 'a ledger is damaged')
          damaged.push(head)
        }
      }
      if (signed.length > 0) added += await db.system('checkpoints', (tx) => insertCheckpoints(tx, signed))
      if (heads.length < BATCH || signal?.aborted === true) return added
    }
  }
}

async function findContradiction(
  db: Pick<Database, 'system'>,
  { accountId, environment, size, frontier }: UnsignedHead,
): Promise<string | undefined> {
  const scope: Scope = { accountId, environment }
  return db.system('checkpoints', async (tx) => {
    const [last] = await findCheckpoints(tx, scope, { below: size, order: 'newest', limit: 1 })
    try {
      const ranges = frontierRanges(size)
      const older = last === undefined ? [] : frontierRanges(last.size)
      const hashes = await hashRanges(tx, scope, [...ranges, ...older])
      if (!Buffer.concat(hashes.slice(0, ranges.length)).equals(frontier)) return 'the head is not that of the leaves'
      const oldRoot = rootOf({ size: last?.size ?? 0, frontier: hashes.slice(ranges.length) })
      if (last !== undefined && !oldRoot.equals(last.root))
        return `the checkpoint of size ${last.size} is of other leaves`
      return undefined
    } catch (error) {
      if (error instanceof RangeError) return error.message
      throw error
    }
  })
}

async function sign(
  { signingKeys, now }: Pick<CheckpointerDeps, 'signingKeys' | 'now'>,
  { accountId, environment, size, frontier }: UnsignedHead,
): Promise<Scope & Checkpoint> {
  const root = rootOf(treeOf(size, frontier))
  const at = now()
  const claims: CheckpointClaims = {
    account_id: accountId,
    env: environment,
    size,
    root: root.toString('base64url'),
    at: at.toISOString(),
  }
  const jws = await signingKeys.signRecord(environment, CHECKPOINT_TYP, { ...claims })
  return { accountId, environment, size, root, at, jws }
}
