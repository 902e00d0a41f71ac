// Routes for enrolled devices: counts, history, newer evidence.

import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { parseLines } from '#src/platform/http/bulk.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { evidenceRequest } from '../hardware/evidence.ts'
import { hardwareTierView } from '../judgement-views.ts'
import type { Devices } from './devices.ts'
import { ENTRY_KINDS } from './history-rows.ts'
import { importLimits, MAX_IMPORT_BYTES } from './import.ts'

/** A line of a refresh. */
export const refreshRequest = z
  .strictObject({ device_id: z.string().max(64), attestation: evidenceRequest })
  .meta({ id: 'DeviceEvidence' })

const refreshView = z
  .object({
    object: z.literal('device_refresh'),
    accepted: z.number().int(),
    rejected: z.array(rejectedLineView),
    devices: z.array(
      z
        .object({ line: z.number().int(), device_id: z.string(), proven_tier: hardwareTierView })
        .meta({ id: 'RefreshedLine' }),
    ),
  })
  .meta({ id: 'DeviceRefresh' })

const entryView = z
  .object({
    kind: z.enum(ENTRY_KINDS).meta({ id: 'DeviceEntryKind' }),
    at: timestampView,
    by: actorView,
    reason: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'DeviceEntry' })

const countsView = z
  .object({
    object: z.literal('device_counts'),
    total: z.number().int(),
    by_status: z
      .object({ enrolled: z.number().int(), expired: z.number().int(), revoked: z.number().int() })
      .meta({ id: 'DeviceStatusCounts' }),
    expiring_soon: z.number().int().describe('Enrolled devices whose certificate expires within 30 days.'),
    by_hardware_tier: z
      .record(hardwareTierView, z.number().int())
      .describe('All devices by the tier that counts, the list of revoked keys included.'),
  })
  .meta({ id: 'DeviceCounts' })

export function deviceLifeRoutes(devices: Devices): Route[] {
  return [
    endpoint(
      {
        method: 'GET',
        path: '/v1/admin/devices/counts',
        operationId: 'countDevices',
        sdk: 'devices.counts.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Number of devices by status and hardware tier',
        scope: 'admin',
        permission: 'devices.read',
        view: countsView,
        status: [200],
      },
      async ({ caller }) => {
        const { states, tiers } = await devices.count(caller)
        const { enrolled, expired, revoked, expiring } = states
        return {
          object: 'device_counts' as const,
          total: enrolled + expired + revoked,
          by_status: { enrolled, expired, revoked },
          expiring_soon: expiring,
          by_hardware_tier: tiers,
        }
      },
    ),
    listEndpoint(
      {
        path: '/v1/admin/devices/:id/history',
        operationId: 'getDeviceHistory',
        sdk: 'devices.history.list',
        params: idParams('dev'),
        summary: 'The history of one device, newest first',
        scope: 'admin',
        permission: 'devices.read',
        query: pageQuery,
        item: entryView,
      },
      ({ caller, params, query }) => devices.history(caller, params.id, query),
      ({ kind, at, by, reason, detail }) => ({ kind, at: at.toISOString(), by, reason, detail }),
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/admin/devices/attestations',
        operationId: 'attestDevices',
        sdk: 'devices.attestations.upload',
        effect: 'write',
        kind: 'upload',
        summary: 'Replace the hardware evidence of up to 10,000 devices, as NDJSON',
        scope: 'admin',
        permission: 'devices.write',
        audits: 'device.evidence_changed',
        rawBody: { contentTypes: [NDJSON_TYPE], isKept: true },
        maxBodyBytes: MAX_IMPORT_BYTES,
        view: refreshView,
        status: [200],
      },
      async ({ caller, stream, idempotencyKey }) => {
        const lines = parseLines(stream, refreshRequest, importLimits(caller))
        const { rejected, devices: refreshed } = await devices.attestMany(caller, lines, idempotencyKey)
        return {
          object: 'device_refresh' as const,
          accepted: refreshed.length,
          rejected,
          devices: refreshed.map(({ line, deviceId, provenTier }) => ({
            line,
            device_id: deviceId,
            proven_tier: provenTier,
          })),
        }
      },
      // Never called: a repeat runs the handler again, which changes nothing.
      async () => ({ object: 'device_refresh' as const, accepted: 0, rejected: [], devices: [] }),
    ),
  ]
}
