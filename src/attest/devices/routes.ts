import { z } from 'zod'
import { parseLines } from '#src/platform/http/bulk.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { listQuery, orderQuery } from '#src/platform/http/page.ts'
import { boundTime, idParams, several, timestamp, visibleText } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { evidenceRequest } from '../hardware/evidence.ts'
import { hardwareTierView } from '../judgement-views.ts'
import { type Challenges, MAX_CHALLENGES } from './challenges.ts'
import type { Devices } from './devices.ts'
import { importLimits, MAX_IMPORT_BYTES } from './import.ts'
import { deviceLifeRoutes } from './life-routes.ts'
import { DEVICE_ORDERS } from './rows.ts'
import { deviceStatusView, deviceView, importView, toDeviceView, toImportView } from './views.ts'

// The check of JSON bodies for U+0000, which Postgres can't store, does not cover lines.
const deviceName = visibleText(200).refine((text) => !text.includes('\0'), {
  error: 'must not contain U+0000',
  params: { code: 'invalid_character' },
})

export const enrollRequest = z
  .strictObject({
    name: deviceName.optional(),
    certificate_chain: z.array(z.string()).min(1),
    attestation: evidenceRequest.optional().describe('Evidence of the key’s hardware.'),
  })
  .meta({ id: 'EnrollDeviceRequest' })

const challengesView = z
  .object({
    challenges: z.array(
      z
        .object({ challenge_id: z.string(), challenge: z.string(), expires_at: timestampView })
        .meta({ id: 'Challenge' }),
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
        body: evidenceRequest.meta({ id: 'AttestDeviceRequest' }),
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
        summary: 'Enroll one device by its certificate chain',
        scope: 'admin',
        permission: 'devices.write',
        audits: 'device.enrolled',
        body: enrollRequest,
        view: deviceView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => toDeviceView(await devices.enroll(caller, body, idempotencyKey)),
      async ({ caller }, id) => toDeviceView(await devices.get(caller, id)),
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/devices/batches',
        operationId: 'enrollDevices',
        sdk: 'devices.batches.create',
        effect: 'write',
        kind: 'upload',
        summary: 'Enroll up to 10,000 devices, as NDJSON',
        scope: 'admin',
        permission: 'devices.write',
        audits: 'device.enrolled',
        rawBody: { contentTypes: [NDJSON_TYPE], isKept: true },
        maxBodyBytes: MAX_IMPORT_BYTES,
        view: importView,
        status: [200],
      },
      async ({ caller, stream, idempotencyKey }) => {
        const lines = parseLines(stream, enrollRequest, importLimits(caller))
        return toImportView(await devices.enrollMany(caller, lines, idempotencyKey))
      },
      // Never called: a repeat runs the handler again, which finds the devices of the first.
      async () => toImportView({ rejected: [], devices: [] }),
    ),
    listEndpoint(
      {
        path: '/v1/admin/devices',
        operationId: 'listDevices',
        sdk: 'devices.list',
        summary: 'Devices, newest first or by their expiry',
        scope: 'admin',
        permission: 'devices.read',
        query: {
          ...listQuery,
          ...orderQuery,
          order_by: z
            .enum(DEVICE_ORDERS)
            .meta({ id: 'DeviceOrder' })
            .default('created')
            .describe('`created` when absent. By `expires`, `order=asc` begins with what expires first.'),
          status: several(deviceStatusView).optional(),
          hardware_tier: hardwareTierView.optional(),
          expires_gte: boundTime.optional().meta({ description: 'The certificate expires at or after.' }),
          expires_lt: boundTime.optional().meta({ description: 'The certificate expires before.' }),
        },
        item: deviceView,
      },
      ({ caller, query }) => devices.list(caller, query),
      toDeviceView,
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
        method: 'PATCH',
        path: '/v1/admin/devices/:id',
        operationId: 'updateDevice',
        sdk: 'devices.update',
        effect: 'write',
        kind: 'call',
        params: idParams('dev'),
        summary: 'Give a device another name, or none',
        scope: 'admin',
        permission: 'devices.write',
        audits: 'device.renamed',
        body: z.strictObject({ name: deviceName.nullable() }).meta({ id: 'UpdateDeviceRequest' }),
        view: deviceView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toDeviceView(await devices.rename(caller, params.id, body.name, idempotencyKey)),
      async ({ caller }, id) => toDeviceView(await devices.get(caller, id)),
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
