// Creates orders, shows them, edits and cancels them. An edit makes another hash and voids the signatures; what was signed is never
// changed in place. Nothing personal of an order leaves it: audit log and ledger have ids and hashes.

import { readActors } from '#src/account/users/actors.ts'
import { boundedText } from '#src/authorize/policy/json-object.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import { readClock } from '#src/platform/db/clock.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorsOf } from '#src/platform/http/actor.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, newId, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { ListName } from '../exclusions/formats.ts'
import { recordClinicalAct } from '../prescribers/acts.ts'
import { type ClinicalRule, ruleOf } from '../prescribers/policy-document.ts'
import { readClinicalPolicy, readFormulary } from '../prescribers/policy-rows.ts'
import { type DecidedSchedule, isStricter, scheduleOf } from '../prescribers/schedules.ts'
import { findStanding, findStandingOfNpi, type PrescriberStanding } from '../prescribers/tier.ts'
import { hashCanonical } from '../tokens/format.ts'
import { type OrderChange, type OrderDraft, type OrderMembers, toDraft } from './bodies.ts'
import { hashOrder, openContent, type SealedOrder, type SignedOrder, sealContent } from './content.ts'
import { readStaleLists } from './facts.ts'
import type { RecordRefusals } from './refusals.ts'
import {
  type CancelReason,
  countOrders,
  editOrder,
  endOrder,
  findOrder,
  findSignatures,
  insertOrder,
  listOrders,
  lockOrder,
  type OrderFilter,
  type OrderRow,
  type OrderTerms,
  readNpis,
  type SignatureRow,
} from './rows.ts'
import { ORDER_STATUSES, type OrderAct, type OrderStatus, statusAfter } from './state.ts'

export interface OrdersDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  pager: Pager
  sealer: Sealer
  recordRefusals: RecordRefusals
  now(): Date
}

/** An order with everything that callers see. */
export interface OpenedOrder {
  row: OrderRow
  sealed: SealedOrder
  npi: string
  /** The rule in force for its schedule. */
  needs: ClinicalRule
  /** Also those that were voided. */
  signatures: SignatureRow[]
  staleLists: ListName[]
  actors: ActorsOf
}

export type EditRequest = { change: OrderChange } | { draft: OrderDraft }

export type Orders = ReturnType<typeof createOrders>

export function createOrders({ db, ledger, pager, sealer, recordRefusals, now }: OrdersDeps) {
  async function openAll(tx: Tx, scope: Scope, rows: readonly OrderRow[]): Promise<OpenedOrder[]> {
    const ids = rows.map(({ id }) => id)
    const at = await readClock(tx)
    const [signatures, npis, policy, stale] = await Promise.all([
      findSignatures(tx, scope, ids),
      readNpis(tx, scope, [...new Set(rows.map(({ prescriberId }) => prescriberId))]),
      readClinicalPolicy(tx, scope),
      readStaleLists(tx, scope, at),
    ])
    const actors = await readActors(tx, [
      ...rows.flatMap(({ createdBy, endedBy }) => [createdBy, endedBy]),
      ...signatures.map(({ userId }) => userId),
    ])
    const signaturesOf = Map.groupBy(signatures, ({ orderId }) => orderId)
    return rows.map((row) => ({
      row,
      sealed: openContent(sealer, row),
      npi: npis.get(row.prescriberId) ?? '',
      needs: ruleOf(policy.document, row.schedule),
      signatures: signaturesOf.get(row.id) ?? [],
      staleLists: stale,
      actors,
    }))
  }

  async function open(tx: Tx, scope: Scope, id: string): Promise<OpenedOrder> {
    const [opened] = await openAll(tx, scope, [await getOwned(findOrder(tx, scope, id), id)])
    if (opened === undefined) throw new Error('a row was shown as none')
    return opened
  }

  /** @throws {Failure} `invalid_request` where the draft names no prescriber of the account. */
  async function prescriberOf(tx: Tx, scope: Scope, draft: OrderDraft): Promise<PrescriberStanding> {
    const given = draft.prescriber
    const standing =
      'id' in given ? await findStanding(tx, scope, given.id) : await findStandingOfNpi(tx, scope, given.npi)
    if (standing !== undefined) return standing
    const pointer = 'id' in given ? '/prescriber_id' : '/requester/identifier/value'
    throw invalidField(pointer, 'unknown', 'names no prescriber of the account')
  }

  async function termsOf(
    tx: Tx,
    scope: Scope,
    { id, prescriberId }: { id: string; prescriberId: string },
    draft: OrderDraft,
  ): Promise<OrderTerms> {
    const { content, payload, requested, resource, usState } = draft
    if (payload !== null) boundedText('/action_payload', payload)
    const { schedule, source, substance } = await decideSchedule(tx, scope, draft)
    const signed: SignedOrder = {
      ...content,
      order_id: id,
      prescriber_id: prescriberId,
      schedule,
      us_state: usState,
      action_payload: payload,
      resource_hash: resource === null ? null : sha256Base64url(resource),
    }
    const sealed = {
      content,
      action_payload: payload,
      requested_schedule: requested,
      substance: substance ?? null,
      resource,
    }
    return {
      sealedContent: sealContent(sealer, id, sealed),
      orderHash: hashOrder(signed),
      payloadHash: payload === null ? null : hashCanonical(payload),
      schedule,
      scheduleSource: source,
      refills: content.refills,
      usState,
    }
  }

  /** Runs `work` while the order's row is held, once per key. */
  function change(
    acting: Acting,
    id: string,
    key: IdempotencyKey | undefined,
    work: (tx: Tx, row: OrderRow) => Promise<unknown>,
  ): Promise<OpenedOrder> {
    checkId(id, 'ord', acting.environment)
    note({ order: id })
    const locked = async (tx: Tx) => {
      await work(tx, await getOwned(lockOrder(tx, acting, id), id))
      return open(tx, acting, id)
    }
    return db.tenant(acting, (tx) => once(tx, key, locked, () => id))
  }

  return {
    open,
    change,

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<OpenedOrder> {
      checkId(id, 'ord', scope.environment)
      note({ order: id })
      return db.tenant(scope, (tx) => open(tx, scope, id))
    },

    /** Newest first. @throws {Failure} `environment_mismatch`; `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: OrderFilter & CountedQuery): Promise<CountedPage<OpenedOrder>> {
      if (query.prescriberId !== undefined) checkId(query.prescriberId, 'prs', scope.environment)
      const list = { route: 'GET /v1/clinical/orders', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listOrders(tx, scope, query, page),
        count: (tx) => countOrders(tx, scope, query),
        show: (tx, rows) => openAll(tx, scope, rows),
      })
    },

    /** @throws {Failure} `environment_mismatch`; `invalid_request` for an unknown prescriber. */
    async create(acting: Acting, draft: OrderDraft, key?: IdempotencyKey): Promise<OpenedOrder> {
      if ('id' in draft.prescriber) checkId(draft.prescriber.id, 'prs', acting.environment)
      const id = newId('ord', acting.environment, now().getTime())
      note({ order: id })
      const create = async (tx: Tx) => {
        const { prescriberId } = await prescriberOf(tx, acting, draft)
        const terms = await termsOf(tx, acting, { id, prescriberId }, draft)
        await insertOrder(tx, acting, { ...terms, id, prescriberId, createdBy: actorOf(acting.principal).id })
        const { orderHash: order_hash, schedule, scheduleSource: schedule_source } = terms
        const inputs = { prescriber_id: prescriberId, order_hash, schedule, schedule_source }
        await recordClinicalAct(tx, acting, ledger, { action: 'order.created', subject: id, inputs })
        return open(tx, acting, id)
      }
      return db.tenant(acting, (tx) =>
        once(
          tx,
          key,
          () => create(tx),
          ({ row }) => row.id,
        ),
      )
    },

    /**
     * Makes another content, which nobody has signed yet. The same content again changes nothing.
     * @throws {Failure} `environment_mismatch`, `not_found`, `precondition_failed`, `invalid_state_transition`;
     * `unsupported_media_type` for JSON to an order that was made from a FHIR resource; `invalid_request` for another prescriber.
     */
    async edit(
      acting: Acting,
      id: string,
      { request, expected }: { request: EditRequest; expected: () => readonly number[] | undefined },
      key?: IdempotencyKey,
    ): Promise<OpenedOrder> {
      const edit = async (tx: Tx, row: OrderRow) => {
        checkVersion(expected(), row)
        checkPossible(row.status, 'edit', { cosign: false })
        const draft = 'draft' in request ? request.draft : mergedDraft(row, openContent(sealer, row), request.change)
        const { prescriberId } = await prescriberOf(tx, acting, draft)
        if (prescriberId !== row.prescriberId) {
          throw invalidField('/requester/identifier/value', 'conflicting', 'is of another prescriber than the order')
        }
        const terms = await termsOf(tx, acting, row, draft)
        if (terms.orderHash === row.orderHash) return
        await editOrder(tx, acting, id, terms)
        await recordClinicalAct(tx, acting, ledger, {
          action: 'order.edited',
          subject: id,
          inputs: {
            previous_hash: row.orderHash,
            order_hash: terms.orderHash,
            schedule: terms.schedule,
            schedule_source: terms.scheduleSource,
          },
        })
      }
      return recordRefusals(acting, { id, act: 'edit' }, () => change(acting, id, key, edit))
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`, `invalid_state_transition`. */
    async cancel(acting: Acting, id: string, reason: CancelReason, key?: IdempotencyKey): Promise<OpenedOrder> {
      const cancel = async (tx: Tx, row: OrderRow) => {
        checkPossible(row.status, 'cancel', { cosign: false })
        await endOrder(tx, acting, id, { status: 'cancelled', by: actorOf(acting.principal).id, reason })
        const inputs = { order_hash: row.orderHash, reason }
        await recordClinicalAct(tx, acting, ledger, { action: 'order.cancelled', subject: id, inputs })
      }
      return recordRefusals(acting, { id, act: 'cancel' }, () => change(acting, id, key, cancel))
    },
  }
}

/**
 * The status that an act leads to.
 * @throws {Failure} `invalid_state_transition`, with the statuses in which the act is possible.
 */
export function checkPossible(status: OrderStatus, act: OrderAct, needs: { cosign: boolean }): OrderStatus {
  const next = statusAfter(status, act, needs)
  if (next !== undefined) return next
  const allowed = ORDER_STATUSES.filter((one) => statusAfter(one, act, { cosign: true }) !== undefined)
  throw new Failure('invalid_state_transition', {
    detail: `The order is ${status}, and must be ${allowed.join(' or ')}.`,
    members: { current_status: status, allowed },
  })
}

/** The strictest schedule of all that the medication names. */
async function decideSchedule(
  tx: Tx,
  scope: Scope,
  { requested, concepts: { rxnorms, names } }: OrderDraft,
): Promise<DecidedSchedule> {
  const codes = rxnorms.length === 0 ? [null] : rxnorms
  const formularies = await Promise.all(codes.map((code) => readFormulary(tx, scope, code)))
  const decided = names.flatMap((name) =>
    codes.map((rxnorm, index) => scheduleOf({ requested, rxnorm, name }, formularies[index] ?? new Map())),
  )
  return decided.reduce((strictest, one) => (isStricter(one.schedule, strictest.schedule) ? one : strictest), {
    schedule: requested,
    source: 'request',
  })
}

function mergedDraft(row: OrderRow, sealed: SealedOrder, change: OrderChange): OrderDraft {
  const { content, action_payload, requested_schedule: schedule, resource } = sealed
  if (resource !== null) {
    throw new Failure(
      'unsupported_media_type',
      'The order was made from a FHIR resource: send the whole resource as application/fhir+json.',
    )
  }
  const { medication, ...rest } = content
  const members: OrderMembers = {
    ...rest,
    medication: { ...medication, schedule },
    us_state: row.usState as OrderMembers['us_state'],
    action_payload,
    ...change,
  }
  return toDraft({ id: row.prescriberId }, members)
}
