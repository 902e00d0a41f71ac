import type { Readable } from 'node:stream'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { type JsonBodyLimits, parseWholeBody } from '#src/platform/http/body.ts'
import { parseLines } from '#src/platform/http/bulk.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParams, timestamp, visibleText } from '#src/platform/http/params.ts'
import { invalidRequest, parseWith } from '#src/platform/http/validate.ts'
import { evidenceRequest } from '../hardware/evidence.ts'
import { hardwareTierView } from '../judgement-views.ts'
import { type Challenges, MAX_CHALLENGES } from './challenges.ts'
import type { Devices } from './devices.ts'
import type { EnrollRequest } from './enrollment.ts'
import { importLimits, MAX_IMPORT_BYTES } from './import.ts'
import { deviceLifeRoutes } from './life-routes.ts'
import { deviceView, importView, toDeviceView, toImportView } from './views.ts'

const JSON_TYPE = 'application/json'

const JSON_LIMITS: JsonBodyLimits = { maxBytes: 1024 * 1024, maxDepth: 8, maxValues: 2_000 }

// The check of JSON bodies for U+0000, which Postgres can't store, does not cover the raw body.
const name = visibleText(200).refine((text) => !text.includes('\0'), {
  error: 'must not contain U+0000',
  params: { code: 'invalid_character' },
})

export const enrollRequest = z
  .strictObject({
    name: name.optional(),
    certificate_chain: z.array(z.string()).min(1),
    attestation: evidenceRequest.optional().describe('Evidence of the key’s hardware.'),
  })
  .meta({ id: 'DeviceEnrollment' })

const challengesView = z
  .object({
    challenges: z.array(
      z.object({ challenge_id: z.string(), challenge: z.string(), expires_at: z.string() }).meta({ id: 'Challenge' }),
    ),
  })
  .meta({ id: 'IssuedChallenges' })

export function deviceRoutes(devices: Devices, challenges: Challenges): Route[] {
  // Before the registry's own routes: their path segments must not be taken for ids.
  return [...deviceLifeRoutes(devices), ...registryRoutes(devices), ...evidenceRoutes(devices, challenges)]
}

function evidenceRoutes(devices: Devices, challenges: Challenges): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/devices/challenges',
        operationId: 'createChallenges',
        sdk: 'devices.challenges.create',
        effect: 'write',
        kind: 'call',
        summary: 'Issue challenges for hardware evidence: each is valid once, for a day',
        scope: 'admin',
        permission: 'devices.write',
        body: z.strictObject({ count: z.number().int().min(1).max(MAX_CHALLENGES) }),
        view: challengesView,
        status: [200],
      },
      ({ caller, body, idempotencyKey }) => challenges.issue(caller, body.count, idempotencyKey),
      ({ caller }, ids) => challenges.reissue(caller, ids),
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/devices/:id/attestation',
        operationId: 'attestDevice',
        sdk: 'devices.attest',
        effect: 'write',
        kind: 'call',
        params: idParams('dev'),
        summary: 'Replace the hardware evidence of a device by newer evidence',
        scope: 'admin',
        permission: 'devices.write',
        audits: 'device.evidence_changed',
        body: evidenceRequest,
        view: deviceView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toDeviceView(await devices.attest(caller, params.id, body, idempotencyKey)),
      async ({ caller }, id) => toDeviceView(await devices.get(caller, id)),
    ),
  ]
}

function registryRoutes(devices: Devices): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/devices',
        operationId: 'enrollDevice',
        sdk: 'devices.create',
        effect: 'write',
        kind: 'call',
        summary: 'Enroll one device by its certificate chain, or up to 10,000 of them as NDJSON',
        scope: 'admin',
        permission: 'devices.write',
        audits: 'device.enrolled',
        rawBody: { contentTypes: [JSON_TYPE, NDJSON_TYPE], isKept: true },
        maxBodyBytes: MAX_IMPORT_BYTES,
        view: z.union([deviceView, importView]),
        status: [200],
      },
      async ({ caller, stream, header, idempotencyKey }) => {
        if (!isLines(header('content-type'))) {
          return toDeviceView(await devices.enroll(caller, await readRequest(stream), idempotencyKey))
        }
        const lines = parseLines(stream, enrollRequest, importLimits(caller))
        return toImportView(await devices.enrollMany(caller, lines, idempotencyKey))
      },
      async ({ caller }, id) => toDeviceView(await devices.get(caller, id)),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/admin/devices',
        operationId: 'listDevices',
        sdk: 'devices.list',
        effect: 'read',
        kind: 'list',
        summary: 'Devices, newest first',
        scope: 'admin',
        permission: 'devices.read',
        query: z.strictObject({
          ...listQuery,
          state: z.enum(['enrolled', 'expired', 'revoked']).optional(),
          hardware_tier: hardwareTierView.optional(),
        }),
        view: listOf(deviceView),
        status: [200],
      },
      async ({ caller, query }) => {
        const { data, ...page } = await devices.list(caller, query)
        return { ...page, data: data.map(toDeviceView) }
      },
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/admin/devices/:id',
        operationId: 'getDevice',
        sdk: 'devices.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('dev'),
        summary: 'One device',
        scope: 'admin',
        permission: 'devices.read',
        view: deviceView,
        status: [200],
      },
      async ({ caller, params }) => toDeviceView(await devices.get(caller, params.id)),
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/devices/:id/revoke',
        operationId: 'revokeDevice',
        sdk: 'devices.revoke',
        effect: 'destructive',
        kind: 'call',
        params: idParams('dev'),
        summary: 'Revoke a device permanently',
        scope: 'admin',
        permission: 'devices.write',
        isEmergency: true,
        audits: 'device.revoked',
        body: z.strictObject({
          reason: visibleText(500),
          actor: visibleText(200).optional().describe('Who revokes it, for its history.'),
          effective_at: timestamp
            .optional()
            .describe('From when on its captures are not trusted. Now when absent; may be in the past.'),
        }),
        view: deviceView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toDeviceView(await devices.revoke(caller, params.id, body, idempotencyKey)),
      async ({ caller }, id) => toDeviceView(await devices.get(caller, id)),
    ),
  ]
}

function isLines(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === NDJSON_TYPE
}

async function readRequest(stream: Readable): Promise<EnrollRequest> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > JSON_LIMITS.maxBytes) {
      const detail = `One device has at most ${JSON_LIMITS.maxBytes} bytes. Send many as ${NDJSON_TYPE}.`
      throw new Failure('payload_too_large', detail)
    }
    chunks.push(chunk)
  }
  const value = await parseWholeBody(Buffer.concat(chunks), JSON_LIMITS)
  const parsed = parseWith(enrollRequest, value, 'body')
  if (!parsed.ok) throw invalidRequest(parsed.errors)
  return parsed.value as EnrollRequest // The schema has just checked it.
}
