import { z } from 'zod'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { hardwareTierView } from '../judgement-views.ts'
import { certificateView, toCertificateView } from '../trust/certificates.ts'
import type { Device } from './devices.ts'
import { hardwareView, toHardwareView } from './hardware-views.ts'
import type { ImportResult } from './import.ts'
import { DEVICE_STATES } from './rows.ts'

export const deviceStatusView = z.enum(DEVICE_STATES).meta({ id: 'DeviceStatus' })

export const deviceView = z
  .object({
    device_id: z.string(),
    name: z.string().nullable(),
    status: deviceStatusView,
    hardware_tier: hardwareTierView,
    hardware: hardwareView.nullable(),
    certificate: certificateView,
    spki_sha256: z.string(),
    enrolled_at: timestampView,
    expires_at: timestampView.describe('When the certificate expires. From then on the device counts as not enrolled.'),
    revoked_at: timestampView.nullable(),
    revoke_effective_at: timestampView.nullable(),
    revoke_reason: z.string().nullable(),
  })
  .meta({ id: 'Device' })

export const importView = z
  .object({
    object: z.literal('device_batch'),
    accepted: z.number().int(),
    rejected: z.array(rejectedLineView),
    devices: z.array(z.object({ line: z.number().int(), device_id: z.string() }).meta({ id: 'EnrolledLine' })),
  })
  .meta({ id: 'DeviceBatch' })

export function toDeviceView(device: Device): z.input<typeof deviceView> {
  return {
    device_id: device.id,
    name: device.name,
    status: device.state,
    hardware_tier: device.hardwareTier,
    hardware: toHardwareView(device),
    certificate: toCertificateView(device.certificateChain[0]),
    spki_sha256: device.spkiDigest.toString('hex'),
    enrolled_at: device.enrolledAt.toISOString(),
    expires_at: device.notAfter.toISOString(),
    revoked_at: device.revokedAt?.toISOString() ?? null,
    revoke_effective_at: device.revokeEffectiveAt?.toISOString() ?? null,
    revoke_reason: device.revokeReason,
  }
}

export function toImportView({ rejected, devices }: ImportResult): z.input<typeof importView> {
  return {
    object: 'device_batch',
    accepted: devices.length,
    rejected,
    devices: devices.map(({ line, deviceId }) => ({ line, device_id: deviceId })),
  }
}
