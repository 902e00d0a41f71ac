import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery, pageQuery } from '#src/platform/http/page.ts'
import { flag, idParam, idParams, several } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { extended, timestampView, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import {
  type Exclusions,
  type ListState,
  MAX_UPLOAD_BYTES,
  REVIEW_REASONS,
  type ShownImport,
  type ShownReview,
} from './exclusions.ts'
import { FILE_KINDS, LISTS, type ListName, REFUSALS } from './formats.ts'
import { MATCHED_ON } from './judge.ts'
import type { ChangeRow, ExclusionScreeningRow } from './screening-rows.ts'

const IMPORTS = '/v1/clinical/exclusion-imports'
const SCREENINGS = '/v1/clinical/exclusion-screenings'
const REVIEWS = '/v1/clinical/exclusion-reviews'
const reading = { scope: 'admin', permission: 'prescribers.read', needsAccountKey: true } as const
const writing = { scope: 'admin', permission: 'exclusions.write', needsAccountKey: true } as const

const listName = z
  .enum(LISTS)
  .meta({ id: 'ExclusionListName', description: 'leie: of the OIG of the HHS; sam: of the GSA.' })
const fileKind = z.enum(FILE_KINDS).meta({
  id: 'ExclusionFileKind',
  description: 'full replaces the list; excl and rein are monthly supplements of LEIE, which are merged with it.',
})
const day = z.iso.date()
const rowHash = z.string().describe('SHA-256 of the row, in hexadecimal.')
const status = z.enum(['clear', 'review', 'excluded']).meta({ id: 'ExclusionStatus' })
const matchedOn = z.enum(MATCHED_ON).meta({ id: 'ExclusionMatch' })
const reviewStatus = z.enum(['open', 'cleared', 'confirmed']).meta({ id: 'ExclusionReviewStatus' })
const reviewReason = z.enum(REVIEW_REASONS).meta({ id: 'ExclusionReviewReason' })

const listView = z
  .object({
    list: listName,
    list_date: day.nullable().describe('Date of the list in force; null: there is none.'),
    rows: z.number().int().nullable(),
    source: z
      .enum(['account', 'operator'])
      .meta({ id: 'ExclusionListSource' })
      .nullable()
      .describe('operator: the account has no file of its own.'),
    exclusion_import_id: z.string().nullable().describe('Import of the account that put it in force.'),
    changed_at: timestampView.nullable(),
    is_stale: z.boolean().describe('Missing, or older than 45 days (leie) or 7 days (sam).'),
  })
  .meta({ id: 'ExclusionList' })

const importView = z
  .object({
    exclusion_import_id: z.string(),
    list: listName,
    kind: fileKind,
    file_name: z.string().nullable(),
    status: workStatusView,
    failure: workFailureView('ExclusionImportFailure', REFUSALS).nullable(),
    sha256: z.string().describe('SHA-256 of the file, in hexadecimal.'),
    size: z.number().int().describe('Bytes of the file.'),
    force: z.boolean(),
    rows: z.number().int().nullable().describe('Rows of the list after the import.'),
    list_date: day.nullable(),
    requested_by: actorView,
    created_at: timestampView,
    finished_at: timestampView.nullable(),
  })
  .meta({ id: 'ExclusionImport' })

const screeningView = z
  .object({
    exclusion_screening_id: z.string(),
    cause: z
      .enum([...LISTS, 'prescribers'])
      .meta({ id: 'ExclusionScreeningCause' })
      .describe('The list that was imported, or prescribers who changed. The comparison is always with both lists.'),
    status: workStatusView,
    failure: workFailureView('ExclusionScreeningFailure', ['screening_failed']).nullable(),
    screened: z.number().int().describe('Prescribers compared.'),
    changed: z.number().int().describe('Prescribers whose status is another one than before.'),
    created_at: timestampView,
    finished_at: timestampView.nullable(),
  })
  .meta({ id: 'ExclusionScreening' })

const evidenceView = z
  .object({ list: listName, row_hash: rowHash, list_date: day, matched_on: matchedOn })
  .meta({ id: 'ExclusionEvidence' })

const changeView = z
  .object({
    prescriber_id: z.string(),
    status_before: status,
    status,
    evidence: z.array(evidenceView),
    changed_at: timestampView,
  })
  .meta({ id: 'ExclusionChange' })

const reviewView = extended(
  evidenceView,
  {
    exclusion_review_id: z.string(),
    prescriber_id: z.string(),
    status: reviewStatus,
    reason: reviewReason.nullable(),
    decided_by: actorView.nullable(),
    decided_at: timestampView.nullable(),
    created_at: timestampView,
  },
  { id: 'ExclusionReview' },
)

const decisionRequest = z
  .strictObject({ decision: z.enum(['cleared', 'confirmed']).meta({ id: 'ExclusionDecision' }), reason: reviewReason })
  .refine(({ decision, reason }) => (decision === 'confirmed') === (reason === 'same_person'), {
    path: ['reason'],
    message: 'must be same_person for confirmed, and another one for cleared',
  })
  .meta({ id: 'DecideExclusionReviewRequest' })

const nameAndForce = {
  file_name: z
    .string()
    .max(200)
    .regex(/^[\p{L}\p{N} ._()-]+$/u, 'must be a file name, without a folder')
    .optional()
    .describe('Name that the publisher gave the file: it tells the date of the list.'),
  force: flag.default('false').describe('Accepts an older list, or one with fewer rows. Owners only.'),
}
const uploadQuery = {
  leie: z.object({ ...nameAndForce, kind: fileKind.optional() }),
  sam: z.object(nameAndForce),
}

const TITLE: Record<ListName, string> = { leie: 'LEIE', sam: 'SAM' }

export function exclusionRoutes(exclusions: Exclusions): Route[] {
  return [
    ...LISTS.flatMap((list) => listRoutes(exclusions, list)),
    ...importRoutes(exclusions),
    ...screeningRoutes(exclusions),
    ...reviewRoutes(exclusions),
  ]
}

function listRoutes(exclusions: Exclusions, list: ListName): Route[] {
  const path = `/v1/clinical/exclusion-lists/${list}`
  const name = list === 'leie' ? 'Leie' : 'Sam'
  const accepted = (row: ShownImport) => reply(202, toImportView(row), { Location: `${IMPORTS}/${row.id}` })
  return [
    endpoint(
      {
        ...reading,
        method: 'GET',
        path,
        operationId: `get${name}`,
        sdk: `clinical.exclusionLists.retrieve${name}`,
        effect: 'read',
        kind: 'call',
        summary: `Read which file of ${TITLE[list]} is in force`,
        view: listView,
        status: [200],
      },
      async ({ caller }) => toListView(await exclusions.state(caller, list)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: `${path}/import`,
        operationId: `import${name}`,
        sdk: `clinical.exclusionLists.import${name}`,
        effect: 'write',
        kind: 'upload',
        summary: `Upload a file of ${TITLE[list]} (CSV, or ZIP with one CSV; up to 200 MB)`,
        audits: 'exclusion_list.uploaded',
        query: uploadQuery[list],
        rawBody: { contentTypes: ['text/csv', 'application/zip', 'application/octet-stream'], isHashed: true },
        maxBodyBytes: MAX_UPLOAD_BYTES,
        view: importView,
        status: [202],
      },
      async ({ caller, query, stream, idempotencyKey }) => {
        const kind = 'kind' in query ? query.kind : undefined
        const upload = { list, fileName: query.file_name, kind, isForced: query.force === 'true' }
        return accepted(await exclusions.upload(caller, upload, { source: stream, key: idempotencyKey }))
      },
      async ({ caller }, id) => accepted(await exclusions.getImport(caller, id)),
    ),
  ]
}

function importRoutes(exclusions: Exclusions): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: IMPORTS,
        operationId: 'listExclusionImports',
        sdk: 'clinical.exclusionImports.list',
        summary: 'List imports of exclusion lists, newest first',
        query: { ...listQuery, list: listName.optional(), status: several(workStatusView).optional() },
        item: importView,
      },
      ({ caller, query }) => exclusions.imports(caller, query),
      toImportView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: `${IMPORTS}/:id`,
        operationId: 'getExclusionImport',
        sdk: 'clinical.exclusionImports.retrieve',
        effect: 'read',
        kind: 'wait',
        summary: 'Read the status of an import, and why a file was refused',
        params: idParams('exi'),
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait until it has ended.') }),
        waits: true,
        view: importView,
        status: [200],
      },
      async ({ caller, params: { id }, query, signal }) =>
        toImportView(await exclusions.getEndedImport(caller, id, query.wait, signal)),
    ),
  ]
}

function screeningRoutes(exclusions: Exclusions): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: SCREENINGS,
        operationId: 'listExclusionScreenings',
        sdk: 'clinical.exclusionScreenings.list',
        summary: 'List comparisons of all prescribers with the exclusion lists, newest first',
        query: { ...listQuery, status: several(workStatusView).optional() },
        item: screeningView,
      },
      ({ caller, query }) => exclusions.screenings(caller, query),
      toScreeningView,
    ),
    listEndpoint(
      {
        ...reading,
        path: `${SCREENINGS}/:id/changes`,
        operationId: 'listExclusionChanges',
        sdk: 'clinical.exclusionScreenings.listChanges',
        summary: 'List prescribers whose status a screening found changed',
        params: idParams('exs'),
        query: pageQuery,
        item: changeView,
      },
      ({ caller, params: { id }, query }) => exclusions.changes(caller, id, query),
      toChangeView,
    ),
  ]
}

function reviewRoutes(exclusions: Exclusions): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: REVIEWS,
        operationId: 'listExclusionReviews',
        sdk: 'clinical.exclusionReviews.list',
        summary: 'List rows of exclusion lists that may be a prescriber’s, newest first',
        query: {
          ...listQuery,
          status: several(reviewStatus).optional(),
          list: listName.optional(),
          prescriber_id: idParam('prs').optional(),
        },
        item: reviewView,
      },
      ({ caller, query }) => exclusions.reviews(caller, query),
      toReviewView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: `${REVIEWS}/:id`,
        operationId: 'getExclusionReview',
        sdk: 'clinical.exclusionReviews.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read one review',
        params: idParams('exr'),
        view: reviewView,
        status: [200],
      },
      async ({ caller, params: { id } }) => toReviewView(await exclusions.getReview(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: `${REVIEWS}/:id/decision`,
        operationId: 'decideExclusionReview',
        sdk: 'clinical.exclusionReviews.decide',
        effect: 'write',
        kind: 'call',
        summary: 'Clear or confirm a review',
        audits: 'exclusion_review.decided',
        params: idParams('exr'),
        body: decisionRequest,
        view: reviewView,
        status: [200],
      },
      async ({ caller, params: { id }, body: { decision, reason }, idempotencyKey }) =>
        toReviewView(await exclusions.decide(caller, id, { status: decision, reason }, idempotencyKey)),
      async ({ caller }, id) => toReviewView(await exclusions.getReview(caller, id)),
    ),
  ]
}

function toListView({ list, pointer, isStale }: ListState): z.input<typeof listView> {
  return {
    list,
    list_date: pointer?.listDate ?? null,
    rows: pointer?.rows ?? null,
    source: pointer === undefined ? null : pointer.isOperators ? 'operator' : 'account',
    exclusion_import_id: pointer === undefined || pointer.isOperators ? null : pointer.importId,
    changed_at: pointer?.changedAt.toISOString() ?? null,
    is_stale: isStale,
  }
}

function toImportView(row: ShownImport): z.input<typeof importView> {
  return {
    exclusion_import_id: row.id,
    list: row.list,
    kind: row.kind,
    file_name: row.fileName,
    status: row.status,
    failure: row.failureCode === null ? null : { code: row.failureCode, detail: row.failureDetail ?? '' },
    sha256: row.sha256.toString('hex'),
    size: row.size,
    force: row.isForced,
    rows: row.rows,
    list_date: row.listDate,
    requested_by: row.requestedBy,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function toScreeningView(row: ExclusionScreeningRow): z.input<typeof screeningView> {
  return {
    exclusion_screening_id: row.id,
    cause: row.cause,
    status: row.status,
    failure: row.failureDetail === null ? null : { code: 'screening_failed', detail: row.failureDetail },
    screened: row.screened,
    changed: row.changed,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function toChangeView(row: ChangeRow): z.input<typeof changeView> {
  return {
    prescriber_id: row.prescriberId,
    status_before: row.statusBefore,
    status: row.status,
    evidence: row.evidence,
    changed_at: row.changedAt.toISOString(),
  }
}

function toReviewView(row: ShownReview): z.input<typeof reviewView> {
  return {
    exclusion_review_id: row.id,
    prescriber_id: row.prescriberId,
    list: row.list,
    row_hash: row.rowHash,
    list_date: row.listDate,
    matched_on: row.matchedOn,
    status: row.status,
    reason: row.reason as (typeof REVIEW_REASONS)[number] | null,
    decided_by: row.decidedBy,
    decided_at: row.decidedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  }
}
