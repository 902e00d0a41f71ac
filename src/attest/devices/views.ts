import { z } from 'zod'
import { summarizeStored } from '#src/platform/crypto/x509.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { hardwareTierView } from '../judgement-views.ts'
import type { Device } from './devices.ts'
import { hardwareView, toHardwareView } from './hardware-views.ts'
import type { ImportResult } from './import.ts'
import type { RootCaRow } from './rows.ts'

const certificateView = z
  .object({
    subject: z.string(),
    serial: z.string(),
    not_before: z.string(),
    not_after: z.string(),
    fingerprint: z.string(),
  })
  .meta({ id: 'Certificate' })

export const deviceView = z
  .object({
    device_id: z.string(),
    name: z.string().nullable(),
    state: z.enum(['enrolled', 'expired', 'revoked']).meta({ id: 'DeviceState' }),
    hardware_tier: hardwareTierView,
    hardware: hardwareView.nullable(),
    certificate: certificateView,
    spki_sha256: z.string(),
    enrolled_at: z.string(),
    revoked_at: z.string().nullable(),
    revoke_effective_at: z.string().nullable(),
    revoke_reason: z.string().nullable(),
  })
  .meta({ id: 'Device' })

export const importView = z
  .object({
    object: z.literal('device_import'),
    accepted: z.number().int(),
    rejected: z.array(rejectedLineView),
    devices: z.array(z.object({ line: z.number().int(), device_id: z.string() })),
  })
  .meta({ id: 'DeviceImport' })

export const rootCaView = z
  .object({
    root_ca_id: z.string(),
    name: z.string(),
    certificate: certificateView.extend({ pem: z.string() }).meta({ id: 'PemCertificate' }),
    created_at: z.string(),
  })
  .meta({ id: 'RootCa' })

/** A CA certificate that chains may lead to: a root CA of devices, or an anchor of C2PA signers. */
export const anchorRequest = z
  .strictObject({
    name: z.string().min(1).max(200),
    certificate: z
      .string()
      .min(1)
      .max(64 * 1024)
      .describe('PEM, or base64 of DER.'),
  })
  .meta({ id: 'AnchorRegistration' })

/** What is left to say of a root CA or an anchor that was deleted. */
export const deletedView = z.object({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'Deleted' })

export function toDeviceView(device: Device): z.input<typeof deviceView> {
  return {
    device_id: device.id,
    name: device.name,
    state: device.state,
    hardware_tier: device.hardwareTier,
    hardware: toHardwareView(device),
    certificate: toCertificateView(device.certificateChain[0]),
    spki_sha256: device.spkiDigest.toString('hex'),
    enrolled_at: device.enrolledAt.toISOString(),
    revoked_at: device.revokedAt?.toISOString() ?? null,
    revoke_effective_at: device.revokeEffectiveAt?.toISOString() ?? null,
    revoke_reason: device.revokeReason,
  }
}

export function toRootCaView(root: RootCaRow): z.input<typeof rootCaView> {
  const lines = root.certificate.toString('base64').match(/.{1,64}/g) ?? []
  const pem = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
  return {
    root_ca_id: root.id,
    name: root.name,
    certificate: { ...toCertificateView(root.certificate), pem },
    created_at: root.createdAt.toISOString(),
  }
}

export function toImportView({ rejected, devices }: ImportResult): z.input<typeof importView> {
  return {
    object: 'device_import',
    accepted: devices.length,
    rejected,
    devices: devices.map(({ line, deviceId }) => ({ line, device_id: deviceId })),
  }
}

function toCertificateView(der: Buffer | undefined): z.input<typeof certificateView> {
  const { subject, serialNumberHex, notBefore, notAfter, fingerprint } = summarizeStored(der)
  return {
    subject,
    serial: serialNumberHex,
    not_before: notBefore.toISOString(),
    not_after: notAfter.toISOString(),
    fingerprint,
  }
}
