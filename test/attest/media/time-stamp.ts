// Time stamps of our own (RFC 3161), as an authority returns them for the signature of a C2PA manifest.

import { createHash, sign as cryptoSign, KeyObject } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  SubjectKeyIdentifierExtension,
} from '@peculiar/x509'
import { encode } from 'cborg'
import { element, integer, octets, sequence, set, tagged } from '../../../capture-kit/der.ts'
import { make } from '../../platform/crypto/pki.ts'

const TIME_STAMPING = '1.3.6.1.5.5.7.3.8'
const VALIDITY = { from: '2020-01-01T00:00:00Z', until: '2060-01-01T00:00:00Z' }

export interface TimeStampAuthority {
  /** DER. */
  root: Buffer
  /** The token over the signature of a COSE_Sign1 with this protected header (C2PA 2.2 10.3.2.5.2, sigTst2). */
  stamp(header: Uint8Array, signature: Uint8Array): Buffer
}

/** `isBroken`: the authority's signature does not verify. `isElsewhere`: its tokens are about other bytes. */
export async function makeTimeStampAuthority({
  at,
  isBroken = false,
  isElsewhere = false,
}: {
  at: Date
  isBroken?: boolean
  isElsewhere?: boolean
}): Promise<TimeStampAuthority> {
  const root = await make({ name: 'Time root,O=Chronos', isCa: true, ...VALIDITY })
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const leaf = await make({
    name: 'Time stamp 1,O=Chronos',
    issuer: root,
    keys,
    ...VALIDITY,
    usages: KeyUsageFlags.digitalSignature,
    extensions: [
      new ExtendedKeyUsageExtension([TIME_STAMPING], true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(root.keys.publicKey),
    ],
  })
  const key = KeyObject.from(keys.privateKey)
  const { issuerDer, serialNumberHex } = leaf.certificate

  return {
    root: root.der,
    stamp(header, signature) {
      const message = encode(['CounterSignature', header, new Uint8Array(0), encode(signature)])
      const info = sequence(
        integer(1),
        oid('1.2.3.4'),
        sequence(sha256Name(), octets(sha256(isElsewhere ? Buffer.from('others') : message))),
        integer(7),
        element(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, ''))),
      )
      const attributes = [
        sequence(oid('1.2.840.113549.1.9.3'), set(oid(TST_INFO))),
        sequence(oid('1.2.840.113549.1.9.4'), set(octets(sha256(info)))),
      ]
      // RFC 5652 5.4: signed as a SET, sent as [0] IMPLICIT.
      const signed = cryptoSign('sha256', isBroken ? Buffer.from('no') : set(...attributes), key)
      const signerInfo = sequence(
        integer(1),
        sequence(issuerDer, positive(serialNumberHex)),
        sha256Name(),
        element(0xa0, ...attributes),
        sequence(oid('1.2.840.10045.4.3.2')),
        octets(signed),
      )
      const signedData = sequence(
        integer(3),
        set(sha256Name()),
        sequence(oid(TST_INFO), tagged(0, octets(info))),
        element(0xa0, leaf.der, root.der),
        set(signerInfo),
      )
      return sequence(oid('1.2.840.113549.1.7.2'), tagged(0, signedData))
    },
  }
}

const TST_INFO = '1.2.840.113549.1.9.16.1.4'

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
const sha256Name = (): Buffer => sequence(oid('2.16.840.1.101.3.4.2.1'))

// X.690 8.19: the first two numbers in one, each in base 128.
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  const bytes = [40 * first + second, ...others].flatMap((number) => {
    const low = [number & 0x7f]
    for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) low.unshift((rest % 128) | 0x80)
    return low
  })
  return element(0x06, Buffer.from(bytes))
}

function positive(hex: string): Buffer {
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return element(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}
