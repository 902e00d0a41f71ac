// The kill switch of an account and environment: what a canary trip does, and which readings count.

import { z } from 'zod'
import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { readAgents } from '#src/agents/registry/rows.ts'
import { invalidField } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { checkVersion, digestOf, lockDocument, type StoredDocument } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import type { Models } from '../models/models.ts'
import { type KillSwitch, MODES, type ReadingRule } from './judge.ts'
import { canaryName, threshold } from './readings.ts'

const DEFAULT_MAX_AGE_SECONDS = 300
const MAX_AGE_SECONDS = 86_400
const MAX_FAMILIES = 100
const MAX_AGENTS = 1_000
const MAX_MODELS = 20
const MAX_TOKENS = 256
const DEFAULT_READING: ReadingRule = { models: [], max_tokens: 64 }

export const modeView = z.enum(MODES).meta({ id: 'KillSwitchMode' })

export const killSwitchDocument = z
  .strictObject({
    mode: modeView.describe(
      'off: readings are not judged. monitor: readings are judged, and no request is refused. block: a trip, an old ' +
        'reading and a missing reading are refused. block_and_lock: a trip also locks the session.',
    ),
    max_age_s: z
      .number()
      .int()
      .min(1)
      .max(MAX_AGE_SECONDS)
      .default(DEFAULT_MAX_AGE_SECONDS)
      .describe('An older reading does not count.'),
    families: z
      .array(
        z
          .strictObject({ family: canaryName, threshold, enabled: z.boolean().default(true) })
          .meta({ id: 'KillSwitchFamily', verbatim: true }),
      )
      .max(MAX_FAMILIES)
      .default([])
      .describe('Thresholds that replace the thresholds of readings. A family that is not enabled does not count.'),
    apply_to: z
      .strictObject({ agents: z.array(z.string().max(64)).min(1).max(MAX_AGENTS).optional() })
      .meta({ id: 'KillSwitchAgents', verbatim: true })
      .default({})
      .describe(
        'Agents that the kill switch applies to; all agents when `agents` is absent. Requests that name no agent are ' +
          'always included.',
      ),
    allow_experimental: z
      .boolean()
      .default(false)
      .describe('Under `block` and `block_and_lock`, probes with the status `experimental` count too.'),
    reading: z
      .strictObject({
        models: z
          .array(z.string().min(1).max(64))
          .max(MAX_MODELS)
          .default([])
          .describe(
            'Only readings of these models may allow; the first model reads inputs. Empty: the first of GET ' +
              '/v1/trace/models.',
          ),
        max_tokens: z
          .number()
          .int()
          .min(1)
          .max(MAX_TOKENS)
          .default(DEFAULT_READING.max_tokens)
          .describe('Most tokens of an input’s completion. A completion that is cut off earlier allows nothing.'),
      })
      .meta({ id: 'KillSwitchReading', verbatim: true })
      .default(DEFAULT_READING)
      .describe('Conditions for a reading that may allow.'),
  })
  .superRefine(({ families }, context) => {
    families.forEach(({ family }, index) => {
      if (families.findIndex((one) => one.family === family) === index) return
      const path = ['families', index, 'family']
      context.addIssue({ code: 'custom', path, message: 'is named twice', params: { code: 'duplicate' } })
    })
  })
  .meta({ id: 'KillSwitchDocument', verbatim: true })

const DEFAULT_KILL_SWITCH: KillSwitchDocument = {
  mode: 'monitor',
  max_age_s: DEFAULT_MAX_AGE_SECONDS,
  families: [],
  apply_to: {},
  allow_experimental: false,
  reading: DEFAULT_READING,
}

export type KillSwitchDocument = z.output<typeof killSwitchDocument>

export type StoredKillSwitch = StoredDocument<KillSwitchDocument>

interface KillSwitchRow {
  version: number
  /** Members that did not exist when it was stored have their defaults. */
  settings: Partial<KillSwitchDocument>
  changedAt: Date
  changedBy: string
}

async function findRow(tx: Tx): Promise<KillSwitchRow | undefined> {
  const [row] = await tx.query<KillSwitchRow>(
    `SELECT version, settings, changed_at AS "changedAt", changed_by AS "changedBy" FROM kill_switches LIMIT 1`,
  )
  return row
}

/** The account's kill switch, or the defaults. */
export async function findKillSwitch(tx: Tx): Promise<{ settings: KillSwitchDocument }> {
  return { settings: documentOf(await findRow(tx)) }
}

function documentOf(row: KillSwitchRow | undefined): KillSwitchDocument {
  return { ...DEFAULT_KILL_SWITCH, ...row?.settings }
}

export interface KillSwitchChange {
  document: KillSwitchDocument
  /** The versions that the caller expects to replace, from `If-Match`; undefined for any. */
  expected: readonly number[] | undefined
}

export type KillSwitches = ReturnType<typeof createKillSwitches>

export function createKillSwitches({
  db,
  now,
  models,
}: Pick<Platform, 'db' | 'now'> & { models: Pick<Models, 'list'> }) {
  return {
    get: (scope: Scope): Promise<StoredKillSwitch> => db.tenant(scope, async (tx) => storedOf(tx, await findRow(tx))),

    /**
     * Replaces the document, from the next check on, unless it equals the current one.
     * @throws {Failure} `invalid_request` for an agent or a model that does not exist; `environment_mismatch`;
     * `precondition_failed` when the current version is not among the expected ones.
     */
    async put(
      acting: Acting,
      { document, expected }: KillSwitchChange,
      key?: IdempotencyKey,
    ): Promise<StoredKillSwitch> {
      await checkModels(models, document)
      const put = async (tx: Tx) => {
        await checkAgents(tx, acting, document)
        const current = await storedOf(tx, await findRow(tx))
        checkVersion(expected, current)
        if (current.version > 0 && current.digest === digestOf(document)) return current
        await tx.query(
          `INSERT INTO kill_switches (account_id, environment, version, settings, changed_by, changed_at)
           VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT ON CONSTRAINT kill_switches_pkey DO UPDATE
           SET version = excluded.version, settings = excluded.settings, changed_by = excluded.changed_by,
             changed_at = excluded.changed_at`,
          [
            acting.accountId,
            acting.environment,
            current.version + 1,
            JSON.stringify(document),
            actorOf(acting.principal).id,
            now(),
          ],
        )
        await recordAudit(tx, acting, {
          action: 'kill_switch.changed',
          before: auditedOf(current.document),
          after: auditedOf(document),
        })
        return storedOf(tx, await findRow(tx))
      }
      return db.tenant(acting, async (tx) => {
        await lockDocument(tx, 'kill_switch', acting)
        return once(tx, key, put, () => 'kill_switch')
      })
    },
  }
}

async function storedOf(tx: Tx, row: KillSwitchRow | undefined): Promise<StoredKillSwitch> {
  const document = documentOf(row)
  const actors = await readActors(tx, row === undefined ? [] : [row.changedBy])
  return {
    version: row?.version ?? 0,
    digest: digestOf(document),
    changedAt: row?.changedAt ?? null,
    changedBy: row === undefined ? null : actors(row.changedBy),
    document,
  }
}

/** Only where keys are published. */
export const purgeKillSwitches: PurgeStep = async (tx, _scope, { before }) => {
  const gone = await tx.query('DELETE FROM kill_switches WHERE changed_at < $1 RETURNING 1', [before])
  return gone.length
}

/**
 * With a misspelt id the agent that was meant would go unchecked.
 * @throws {Failure} `invalid_request` for an agent that does not exist; `environment_mismatch`.
 */
export async function checkAgents(tx: Tx, { environment }: Scope, { apply_to }: KillSwitch): Promise<void> {
  const { agents = [] } = apply_to
  for (const id of agents) checkId(id, 'agt', environment)
  if (agents.length === 0) return
  const known = await readAgents(tx, agents)
  const index = agents.findIndex((id) => !known.has(id))
  if (index !== -1)
    throw invalidField(`/document/apply_to/agents/${index}`, 'unknown', 'names no agent of this account')
}

/** With a misspelt name every reading would be none. @throws {Failure} `invalid_request`. */
async function checkModels(models: Pick<Models, 'list'>, { reading }: KillSwitchDocument): Promise<void> {
  if (reading.models.length === 0) return
  const known = new Set((await models.list()).map(({ id }) => id))
  const index = reading.models.findIndex((name) => !known.has(name))
  if (index !== -1)
    throw invalidField(`/document/reading/models/${index}`, 'unknown', 'names no model of GET /v1/trace/models')
}

// Without members that are undefined: the audit log is JSON.
function auditedOf({ apply_to: { agents }, families, reading, ...settings }: KillSwitchDocument) {
  return {
    ...settings,
    reading: { ...reading },
    families: families.map((family) => ({ ...family })),
    apply_to: agents === undefined ? {} : { agents },
  }
}
