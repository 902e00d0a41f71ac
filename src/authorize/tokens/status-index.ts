// The place of each token in a public status list. Places come from a sequence in blocks, so that a token costs no round
// trip, and are permuted: neighbouring places say nothing of who issued tokens one after the other, nor how many.

import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { StatusReference } from './format.ts'

/** Entries of one list (draft-ietf-oauth-status-list leaves the size to the issuer). 32 KiB at two bits each. */
export const LIST_ENTRIES = 131_072
// A process that stops wastes the rest of its block.
const BLOCK_ENTRIES = 256
const BLOCKS_PER_LIST = LIST_ENTRIES / BLOCK_ENTRIES

export interface StatusPlace {
  list: number
  index: number
  /** For the token's claim `status`. */
  reference: StatusReference
}

export type StatusIndexes = ReturnType<typeof createStatusIndexes>

interface StatusIndexDeps {
  db: Pick<Database, 'writeSystem' | 'readSystem'>
  baseUrl: string
}

export function createStatusIndexes({ db, baseUrl }: StatusIndexDeps) {
  const blocks = new Map<Environment, Block>()
  const drawing = new Map<Environment, Promise<void>>()

  return {
    /** A place that no other token has. Call it before the transaction that stores the token. */
    async next(environment: Environment): Promise<StatusPlace> {
      for (;;) {
        const block = blocks.get(environment)
        if (block !== undefined && block.taken < BLOCK_ENTRIES) {
          const index = block.permute(block.first + block.taken)
          block.taken += 1
          const uri = listUri(baseUrl, environment, block.list)
          return { list: block.list, index, reference: { idx: index, uri } }
        }
        await (drawing.get(environment) ?? drawOnce(environment))
      }
    },
  }

  // Callers that arrive meanwhile share the block.
  function drawOnce(environment: Environment): Promise<void> {
    const drawn = draw(environment)
      .then((block) => void blocks.set(environment, block))
      .finally(() => drawing.delete(environment))
    drawing.set(environment, drawn)
    return drawn
  }

  async function draw(environment: Environment): Promise<Block> {
    const [row] = await db.writeSystem<{ block: number; seed: Buffer | null }>('status index', () => ({
      text: DRAW,
      values: [environment, BLOCKS_PER_LIST, randomBytes(32)],
    }))
    if (row === undefined) throw new Error('a sequence returned no value')
    const list = Math.floor(row.block / BLOCKS_PER_LIST)
    const seed = row.seed ?? (await readSeed(environment, list))
    return { list, first: (row.block % BLOCKS_PER_LIST) * BLOCK_ENTRIES, taken: 0, permute: createPermutation(seed) }
  }

  // Another process made the list while the statement ran.
  async function readSeed(environment: Environment, list: number): Promise<Buffer> {
    const [row] = await db.readSystem<{ seed: Buffer }>('status index', () => ({
      text: 'SELECT seed FROM status_lists WHERE environment = $1 AND number = $2',
      values: [environment, list],
    }))
    if (row === undefined) throw new Error(`there is no status list ${environment} ${list}`)
    return row.seed
  }
}

// It does not wait for the disk: the transaction that stores the first token of the block commits later, and does.
const DRAW = `WITH drawn AS (SELECT nextval(('status_blocks_' || $1)::regclass) AS block),
  made AS (INSERT INTO status_lists (environment, number, seed) SELECT $1, drawn.block / $2::int, $3 FROM drawn
    ON CONFLICT DO NOTHING RETURNING seed)
  SELECT drawn.block, coalesce(made.seed, known.seed) AS seed FROM drawn LEFT JOIN made ON true
    LEFT JOIN status_lists known ON known.environment = $1 AND known.number = drawn.block / $2::int`

interface Block {
  list: number
  first: number
  taken: number
  permute: (slot: number) => number
}

const WORD: Record<Environment, string> = { sandbox: 'test', live: 'live' }

/** `test_0` or `live_12`. */
export function listId(environment: Environment, list: number): string {
  return `${WORD[environment]}_${list}`
}

export function listUri(baseUrl: string, environment: Environment, list: number): string {
  return `${baseUrl}/v1/intent/status-lists/${listId(environment, list)}`
}

const ROUNDS = 4

/**
 * A permutation of 0 to 131,071: a Feistel network over 8 and 9 bits, whose round functions are tables that the seed
 * expands to.
 */
export function createPermutation(seed: Buffer): (slot: number) => number {
  const bytes = createHash('shake256', { outputLength: ROUNDS * 768 * 2 })
    .update(seed)
    .digest()
  const table = new Uint16Array(ROUNDS * 768)
  for (let at = 0; at < table.length; at += 1) table[at] = bytes.readUInt16LE(2 * at)
  return (slot) => {
    let high = slot >> 9
    let low = slot & 0x1ff
    for (let round = 0; round < ROUNDS; round += 1) {
      high ^= (table[round * 768 + low] ?? 0) & 0xff
      low ^= (table[round * 768 + 512 + high] ?? 0) & 0x1ff
    }
    return (high << 9) | low
  }
}
