// Captures of a simulated phone, honest unless a test changes them.

import type { Scope } from '#src/platform/ids.ts'
import { createAuthority } from '../../../capture-kit/authority.ts'
import {
  type AttestBody,
  type Bundle,
  type Capture,
  createDevice,
  type Device,
  inlineMedia,
} from '../../../capture-kit/device.ts'
import { renderPhoto, withExif } from '../../../capture-kit/photo.ts'
import { CAMERAS } from '../../../capture-kit/stock.ts'
import { type Caller, type Service, type ServiceOptions, startService } from './service.ts'

export const PLACE = { lat: 52.5163, lng: 13.3777 }
export const GPS = { ...PLACE, accuracy_m: 5, mock: false }

export interface Phone {
  device: Device
  /** Its name in the account; undefined when it was never enrolled. */
  id: string | undefined
}

const exifOfNow = () => ({
  camera: CAMERAS[0],
  takenAt: new Date(Date.now() - 60_000),
  utcOffsetMinutes: 60,
  hasOffset: true,
  exposureSeconds: 0.01,
  iso: 100,
})

/** A small JPEG whose EXIF says that it was taken a minute ago. Rendered here: the service's own sharp refuses to draw. */
export let PHOTO = await renderPhoto({ seed: 1, width: 64, height: 48, exif: exifOfNow() })
/** The same picture in other bytes: it has no EXIF. */
export const BARE_PHOTO = withExif(PHOTO, null)

/** For a worker process that runs for minutes: a photo that was taken before the last file began is too old. */
export function renewPhotos(): void {
  PHOTO = withExif(PHOTO, exifOfNow())
}

/** A phone whose root is registered and which is enrolled, unless `isEnrolled` is false. */
export async function makePhone(
  service: Service,
  caller: Caller,
  { isEnrolled = true, isKnownRoot = true, name = 'Phone' } = {},
): Promise<Phone> {
  const now = () => new Date()
  const authority = await createAuthority({ name: 'Test Phones', now })
  const device = await createDevice({ authority, name, now })
  if (isKnownRoot) {
    await service.rootCas.register(caller, { name: 'Test Phones', certificate: authority.rootDer.toString('base64') })
  }
  if (!isEnrolled) return { device, id: undefined }
  return { device, id: await enroll(service, caller, device.chain) }
}

/** A caller with an enrolled phone, on a service of its own unless one is given. */
export async function attestFixture({
  service: given,
  row,
  ...options
}: ServiceOptions & { service?: Service; row?: Parameters<Service['makeCaller']>[0] } = {}): Promise<{
  service: Service
  caller: Caller
  phone: Phone
}> {
  const service = given ?? (await startService(options))
  const caller = await service.makeCaller(row)
  return { service, caller, phone: await makePhone(service, caller) }
}

/** Uploads a photo. Returns the id of the media. */
export async function makeMedia({ media }: Pick<Service, 'media'>, scope: Scope, data = PHOTO): Promise<string> {
  return (await media.storeInline(scope, { contentType: 'image/jpeg', data })).id
}

export async function enroll(service: Service, caller: Caller, chain: readonly Uint8Array[]): Promise<string> {
  const enrolled = await service.devices.enroll(caller, {
    certificate_chain: chain.map((der) => Buffer.from(der).toString('base64')),
  })
  return enrolled.id
}

interface Changes extends Partial<Capture> {
  /** Changes the bundle before the phone signs it. */
  bundle?: (bundle: Bundle) => object
}

/** The body of one capture; `changes` replace its honest members. */
export function shoot({ device, id }: Phone, { bundle: alter, photo = PHOTO, ...changes }: Changes = {}): AttestBody {
  const body = device.capture({
    photo,
    capturedAt: new Date(Date.now() - 60_000),
    media: inlineMedia(photo, 'image/jpeg'),
    gps: GPS,
    biometric: { gated: true, method: 'face' },
    deviceId: id,
    ...changes,
  })
  if (alter === undefined || body.bundle === undefined) return body
  const bundle = alter(body.bundle) as Bundle
  return { ...body, bundle, signature: device.sign(bundle) }
}

export function codesOf(json: Record<string, unknown>, member: 'factors' | 'advisory_factors' = 'factors'): string[] {
  return (json[member] as { code: string }[]).map(({ code }) => code)
}

export function evidenceOf(json: Record<string, unknown>, code: string): Record<string, unknown> {
  const factor = (json.factors as { code: string; evidence: Record<string, unknown> }[]).find(
    (one) => one.code === code,
  )
  if (factor === undefined) throw new Error(`there is no ${code}`)
  return factor.evidence
}
