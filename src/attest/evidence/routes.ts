import { Readable } from 'node:stream'
import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { type EvidenceExport, MAX_ATTESTATIONS } from './evidence.ts'
import { type createTimeline, MOMENT_KINDS } from './moments.ts'
import { signedPacketView } from './views.ts'

const PDF_TYPE = 'application/pdf'
const JSON_TYPE = 'application/json'
const VARY = { Vary: 'Accept' }

const limit = z
  .string()
  .regex(/^(?:[1-9][0-9]?|100)$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .default(MAX_ATTESTATIONS)
  .meta({
    description: 'How many attestations at most, newest first; 100 when absent.',
    type: 'integer',
    minimum: 1,
    maximum: MAX_ATTESTATIONS,
    pattern: undefined,
  })

const momentView = z
  .object({
    at: timestampView,
    kind: z.enum(MOMENT_KINDS).meta({ id: 'ClaimMomentKind' }),
    subject_id: z.string().describe('The claim, attestation, case or screening that it is about.'),
    by: actorView.nullable().describe('Who did it, of entries of cases; null for the others.'),
    details: z
      .record(z.string(), z.unknown())
      .describe('By kind: the data of the event, the result, or the change of the case. Notes are at the case.'),
  })
  .meta({ id: 'ClaimMoment' })

export function evidenceRoutes(evidence: EvidenceExport, timeline: ReturnType<typeof createTimeline>): Route[] {
  return [
    listEndpoint(
      {
        path: '/v1/claims/:id/timeline',
        operationId: 'listClaimTimeline',
        sdk: 'claims.timeline.list',
        params: idParams('clm'),
        summary: 'What happened to a claim, newest first',
        scope: 'verify',
        permission: 'claims.read',
        query: pageQuery,
        item: momentView,
      },
      ({ caller, params, query }) => timeline(caller, params.id, query),
      ({ at, subjectId, ...moment }) => ({ ...moment, at: at.toISOString(), subject_id: subjectId }),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims/:id/evidence',
        operationId: 'exportEvidence',
        sdk: 'claims.evidence.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('clm'),
        summary: 'Everything known about a claim in one signed packet, as JSON or as a PDF that contains it',
        scope: 'verify',
        permission: 'claims.read',
        audits: 'evidence.read',
        query: z.object({
          format: z
            .enum(['json', 'pdf'])
            .meta({ id: 'EvidenceFileFormat' })
            .optional()
            .describe('Takes precedence over Accept.'),
          limit,
          cursor: listQuery.cursor,
        }),
        view: signedPacketView,
        status: [200],
        streams: { contentType: PDF_TYPE },
      },
      async ({ caller, params, query, header, requestId }) => {
        const request = { limit: query.limit, cursor: query.cursor, requestId }
        const isPdf = query.format === undefined ? prefersPdf(header('accept')) : query.format === 'pdf'
        if (!isPdf) return reply(200, await evidence.readJson(caller, params.id, request), VARY)
        const pdf = await evidence.readPdf(caller, params.id, request)
        const headers = {
          ...VARY,
          'Content-Type': PDF_TYPE,
          'Content-Length': String(pdf.byteLength),
          'Content-Disposition': `attachment; filename="evidence-${params.id}.pdf"`,
          'Cache-Control': 'private, no-cache',
        }
        return { status: 200, stream: Readable.from([pdf], { objectMode: false }), headers }
      },
    ),
  ]
}

/**
 * RFC 9110 12.5.1 for two types. JSON when both are equal, and when the header accepts neither: the other form is more
 * useful than a refusal.
 */
export function prefersPdf(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = accept
    .toLowerCase()
    .slice(0, 2_000)
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((one) => one.trim())
      const q = parameters.find((one) => one.startsWith('q='))
      const weight = q === undefined ? 1 : Number(q.slice(2))
      return { range, weight: weight >= 0 && weight <= 1 ? weight : 0 }
    })
  const weightOf = (type: string) => {
    // The most specific range decides.
    const match = [type, 'application/*', '*/*'].map((name) => ranges.find(({ range }) => range === name)).find(Boolean)
    return match?.weight ?? 0
  }
  return weightOf(PDF_TYPE) > weightOf(JSON_TYPE)
}
