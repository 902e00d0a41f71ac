import { z } from 'zod'
import { listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import type { DuplicateFindings } from './findings.ts'
import type { ComparedRow, ShownOther } from './rows.ts'

const other = z
  .object({
    claim_id: z.string(),
    attestation_id: z.string(),
    media_id: z.string(),
    kind: z.enum(['duplicate_media', 'similar_media']).meta({ id: 'DuplicateKind' }),
    distance_bits: z.number().int().describe('Differing bits of 64; 0 for identical bytes too.'),
  })
  .meta({ id: 'DuplicateMatch' })

const findingsView = z
  .object({
    attestation_id: z.string(),
    media_id: z.string(),
    status: z
      .enum(['pending', 'compared', 'not_comparable'])
      .meta({ id: 'DuplicateStatus' })
      .describe('pending: the picture is not compared yet, or is compared anew because an earlier result came late.'),
    not_comparable: z
      .string()
      .nullable()
      .describe('Why there is no perceptual hash; identical bytes are found without a hash.'),
    earlier: z
      .array(other)
      .describe('Earlier claims with the same or a similar picture, nearest first: ten of each kind.'),
    earlier_more: z.number().int().describe('Number of earlier claims that are not listed.'),
    later: z
      .array(other)
      .describe('Claims that showed the picture later and name this attestation, oldest first, ten at most.'),
  })
  .meta({ id: 'DuplicateFindings' })

export function duplicateRoutes(findings: DuplicateFindings): Route[] {
  return [
    listEndpoint(
      {
        path: '/v1/claims/:id/duplicates',
        operationId: 'listDuplicates',
        sdk: 'claims.duplicates.list',
        params: idParams('clm'),
        summary: 'List other claims that show the same pictures',
        scope: 'verify',
        permission: 'claims.read',
        query: pageQuery,
        item: findingsView,
      },
      ({ caller, params, query }) => findings.list(caller, params.id, query),
      toView,
    ),
  ]
}

function toView(row: ComparedRow): z.infer<typeof findingsView> {
  return {
    attestation_id: row.attestationId,
    media_id: row.mediaId,
    status: statusOf(row),
    not_comparable: row.notComparable,
    earlier: row.earlier.map(toOther),
    earlier_more: Math.max(0, row.exactCount + row.similarCount - row.earlier.length),
    later: row.later.map(toOther),
  }
}

function statusOf({ state, notComparable }: ComparedRow) {
  if (state !== 'compared') return 'pending'
  return notComparable === null ? 'compared' : 'not_comparable'
}

function toOther({ claimId, attestationId, mediaId, distanceBits }: ShownOther): z.infer<typeof other> {
  return {
    claim_id: claimId,
    attestation_id: attestationId,
    media_id: mediaId,
    kind: distanceBits === null ? 'duplicate_media' : 'similar_media',
    distance_bits: distanceBits ?? 0,
  }
}
