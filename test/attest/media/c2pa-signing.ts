// C2PA manifests of our own: signed under our certificate chain with the builder of the library that reads them, so no
// third-party file is needed. The COSE signature is made here, because the builder asks for it complete.

import 'reflect-metadata'
import { sign as cryptoSign, KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initSync, WasmBuilder } from '@contentauth/c2pa-wasm'
import {
  AuthorityInfoAccessExtension,
  AuthorityKeyIdentifierExtension,
  ExtendedKeyUsageExtension,
  SubjectKeyIdentifierExtension,
} from '@peculiar/x509'
import { encode } from 'cborg'
import sharp from 'sharp'
import { type Issued, make } from '../../platform/crypto/pki.ts'
import type { TimeStampAuthority } from './time-stamp.ts'

const EMAIL_PROTECTION = '1.3.6.1.5.5.7.3.4'
const RESERVED_BYTES = 8_192
export const SOURCE_TYPES = 'http://cv.iptc.org/newscodes/digitalsourcetype/'

export interface C2paSigner {
  /** DER. */
  root: Buffer
  sign(bytes: Buffer, mime: string, manifest?: ManifestOptions): Promise<Buffer>
}

export interface ManifestOptions {
  /** The origin of the picture; a capture by default. */
  sourceType?: string
  /** The picture began with its one ingredient instead. */
  isOpened?: boolean
  title?: string
  /** The manifest's other address, written into XMP. */
  remoteUrl?: string
  /** Leaves the manifest out of the file. */
  isElsewhere?: boolean
  ingredients?: { bytes: Buffer; mime: string }[]
  assertions?: object[]
  /** States that these actions are complete. */
  isWhole?: boolean
}

const VALIDITY = { from: '2020-01-01T00:00:00Z', until: '2060-01-01T00:00:00Z' }

/** A root of its own, and a leaf, valid from 2020 to 2059 unless `leafValidity` says otherwise. */
export async function makeC2paSigner({
  ocsp,
  authority,
  leafValidity = VALIDITY,
  stampedBy,
}: {
  /** Address of the revocation service that the leaf names. */
  ocsp?: string
  /** Signs the leaf, in place of a new root. */
  authority?: Omit<Issued, 'certificate'>
  leafValidity?: { from: string; until: string }
  /** Time-stamps each signature. */
  stampedBy?: TimeStampAuthority
} = {}): Promise<C2paSigner> {
  start()
  const root = authority ?? (await make({ name: 'Camera root,O=Acme', isCa: true, ...VALIDITY }))
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const leaf = await make({
    name: 'Camera 1,O=Acme',
    issuer: root,
    keys,
    ...leafValidity,
    extensions: [
      new ExtendedKeyUsageExtension([EMAIL_PROTECTION]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(root.keys.publicKey),
      ...(ocsp === undefined ? [] : [new AuthorityInfoAccessExtension({ ocsp })]),
    ],
  })
  const key = KeyObject.from(keys.privateKey)
  const chain = [leaf.der, root.der]

  return {
    root: root.der,
    async sign(bytes, mime, options = {}) {
      const { sourceType = 'digitalCapture', title = 'photo', assertions = [], ingredients = [], isOpened } = options
      const ids = ingredients.map((_, index) => `part-${index}`)
      const first =
        isOpened === true
          ? { action: 'c2pa.opened', parameters: { ingredientIds: ids } }
          : { action: 'c2pa.created', digitalSourceType: `${SOURCE_TYPES}${sourceType}` }
      const placed =
        isOpened === true || ids.length === 0 ? [] : [{ action: 'c2pa.placed', parameters: { ingredientIds: ids } }]
      const builder = WasmBuilder.fromJson(
        JSON.stringify({
          title,
          claim_generator_info: [{ name: 'Acme Camera', version: '1.0' }],
          assertions: [
            {
              label: 'c2pa.actions.v2',
              data: { actions: [first, ...placed], allActionsIncluded: options.isWhole === true },
            },
            ...assertions,
          ],
        }),
        // The clock of the machine says nothing about a certificate of other years.
        JSON.stringify({ builder: { thumbnail: { enabled: false } }, verify: { verify_after_sign: false } }),
      )
      if (options.remoteUrl !== undefined) builder.setRemoteUrl(options.remoteUrl)
      if (options.isElsewhere === true) builder.setNoEmbed(true)
      for (const [index, { bytes, mime }] of ingredients.entries()) {
        const relationship = isOpened === true ? 'parentOf' : 'componentOf'
        const ingredient = { title: 'part', relationship, instance_id: ids[index] }
        await builder.addIngredientFromBlob(JSON.stringify(ingredient), mime, blobOf(bytes))
      }
      const signer = {
        alg: 'es256',
        reserveSize: RESERVED_BYTES,
        sign: async (claim: Uint8Array) => coseSign(claim, key, chain, stampedBy),
      }
      const signed = await builder.sign(signer, [], mime, blobOf(bytes))
      builder.free()
      return Buffer.from(signed)
    },
  }
}

/** A small picture of one colour. */
export function makePicture(format: 'jpeg' | 'png' | 'webp' | 'avif' | 'tiff' = 'jpeg'): Promise<Buffer> {
  return sharp({ create: { width: 32, height: 24, channels: 3, background: '#678' } })
    .toFormat(format)
    .toBuffer()
}

let isStarted = false

// The builder reads its sources through the file interface of browsers.
function start(): void {
  if (isStarted) return
  isStarted = true
  const path = createRequire(import.meta.url).resolve('@contentauth/c2pa-wasm/c2pa.wasm')
  initSync({ module: readFileSync(path) })
  Object.assign(globalThis, {
    FileReaderSync: class {
      readAsArrayBuffer(blob: SyncBlob) {
        return blob.bytes.slice().buffer
      }
    },
  })
}

interface SyncBlob {
  bytes: Uint8Array
  size: number
  slice(from: number, to: number): SyncBlob
}

function blobOf(bytes: Uint8Array): Blob {
  const wrap = (part: Uint8Array): SyncBlob => ({
    bytes: part,
    size: part.length,
    slice: (from, to) => wrap(part.subarray(from, to)),
  })
  // The builder uses only these three members.
  return wrap(new Uint8Array(bytes)) as unknown as Blob
}

// RFC 9052 4.2 and 4.4; C2PA 2.2 13.2: the chain is in the protected header, zeros fill up to the reserved size.
function coseSign(
  claim: Uint8Array,
  key: KeyObject,
  chain: Buffer[],
  stampedBy: TimeStampAuthority | undefined,
): Uint8Array<ArrayBuffer> {
  const header = encode(
    new Map<number, unknown>([
      [1, -7],
      [33, chain.map((der) => new Uint8Array(der))],
    ]),
  )
  const signed = encode(['Signature1', header, new Uint8Array(0), new Uint8Array(claim)])
  const signature = new Uint8Array(cryptoSign('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }))
  const stamps: [string, unknown][] =
    stampedBy === undefined
      ? []
      : [['sigTst2', { tstTokens: [{ val: new Uint8Array(stampedBy.stamp(header, signature)) }] }]]
  const cose = (padding: number) =>
    encode([header, new Map([...stamps, ['pad', new Uint8Array(padding)]]), null, signature])
  // The length of the padding's own length depends on it: from 256 bytes on it takes three.
  const padding = RESERVED_BYTES - 1 - cose(256).length + 256
  return Uint8Array.from([0xd2, ...cose(padding)])
}
