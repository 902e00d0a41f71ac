// CA certificates as callers send them, and as they are stored and shown.

import { z } from 'zod'
import { invalidField } from '#src/failure.ts'
import { judgeIssuer } from '#src/platform/crypto/chain-rules.ts'
import { type Certificate, parseCertificate, summarizeStored } from '#src/platform/crypto/x509.ts'
import { timestampView } from '#src/platform/http/views.ts'
import type { CaRow } from './rows.ts'

export const certificateView = z
  .object({
    subject: z.string(),
    serial: z.string(),
    not_before: timestampView,
    not_after: timestampView,
    fingerprint: z.string(),
  })
  .meta({ id: 'Certificate' })

const POINTER = '/certificate'

/**
 * Reads one CA certificate, as PEM or base64 of DER, that can serve as an anchor from now on.
 * @throws {Failure} `invalid_request` at `/certificate`.
 */
export function readCaCertificate(text: string, now: Date): Certificate {
  const parsed = parseCertificate(decodeCertificate(text))
  if (!parsed.ok) throw invalidField(POINTER, parsed.code, parsed.detail)
  const { certificate } = parsed
  // Its validity may begin later, so that a new root is registered before its first device.
  const at = certificate.notBefore > now ? certificate.notBefore : now
  const obstacle = judgeIssuer(certificate, { intermediates: 0, at, isAnchor: true })
  if (obstacle?.code === 'not_a_ca') throw invalidField(POINTER, 'not_a_ca', 'is not a CA certificate')
  if (obstacle !== undefined) throw invalidField(POINTER, obstacle.code, obstacle.detail)
  return certificate
}

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

function decodeCertificate(text: string): Buffer {
  if (!text.includes('-----BEGIN')) {
    const der = decodeStrictBase64(text)
    if (der !== undefined) return der
    throw invalidField(
      POINTER,
      'invalid_base64',
      'must be PEM, or base64 (RFC 4648 section 4) of DER without line breaks',
    )
  }
  if (text.includes('PRIVATE KEY-----')) {
    throw invalidField(
      POINTER,
      'private_key',
      'holds a private key. It was not stored, but it was sent over the network: consider it compromised',
    )
  }
  // Text that tools print around the block (the subject in clear text) is allowed.
  const [, block = '', ...others] = text.split(BEGIN)
  if (others.length > 0) throw invalidField(POINTER, 'too_many', 'must hold one certificate')
  const end = block.indexOf(END)
  const der = end === -1 ? undefined : decodeStrictBase64(block.slice(0, end).replaceAll(/\s/g, ''))
  if (der === undefined) throw invalidField(POINTER, 'invalid_base64', 'is not a whole PEM block of one certificate')
  return der
}

/** Strict: Node's own decoder skips unknown characters, and accepts the URL alphabet too. */
export function decodeStrictBase64(text: string): Buffer | undefined {
  if (text.length === 0 || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  // RFC 4648 3.5: non-zero padding bits would give one certificate several encodings.
  return bytes.toString('base64') === text ? bytes : undefined
}

/**
 * The CA certificates for an evaluation, usually from the certificate cache. One that was registered under wider limits
 * and would be refused today is not an anchor.
 */
export function anchorsOf(rows: readonly Pick<CaRow, 'certificate'>[]): Certificate[] {
  return rows.flatMap(({ certificate }) => {
    const parsed = parseCertificate(certificate)
    return parsed.ok ? [parsed.certificate] : []
  })
}

export function toCertificateView(der: Buffer | undefined): z.input<typeof certificateView> {
  const { subject, serialNumberHex, notBefore, notAfter, fingerprint } = summarizeStored(der)
  return {
    subject,
    serial: serialNumberHex,
    not_before: notBefore.toISOString(),
    not_after: notAfter.toISOString(),
    fingerprint,
  }
}
