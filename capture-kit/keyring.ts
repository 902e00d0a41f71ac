// Stores one authority and one of its devices in a folder, so that a device stays the same from run to run. Files are
// written atomically and are readable by their owner only.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Authority, createAuthority, openAuthority } from './authority.ts'
import { createDevice, type Device, openDevice } from './device.ts'

export interface Keyring {
  authority: Authority
  device: Device
}

// Chains must be valid at the time of capture, and a user's own photos may be old, but not older than digital cameras.
const FIRST_DIGITAL_PHOTOS = new Date('1990-01-01T00:00:00.000Z')

/** Opens the folder's keys and creates missing ones. @throws when a file exists and can't be read. */
export async function openKeyring(folder: string, { now }: { now: () => Date }): Promise<Keyring> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const notBefore = FIRST_DIGITAL_PHOTOS
  const authority = await keep(join(folder, 'authority.json'), openAuthority, () =>
    createAuthority({ name: 'Capture Kit', now, notBefore }),
  )
  const device = await keep(join(folder, 'device.json'), openDevice, () =>
    createDevice({ authority, name: 'Capture Kit Device', now, notBefore }),
  )
  return { authority, device }
}

async function keep<File, Kept extends { export(): File }>(
  path: string,
  open: (file: File) => Kept,
  create: () => Promise<Kept>,
): Promise<Kept> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) {
    const made = await create()
    await writeWhole(path, `${JSON.stringify(made.export(), null, 2)}\n`)
    return made
  }
  try {
    return open(JSON.parse(text))
  } catch (cause) {
    throw new Error(`${path} holds no key that can be read. Move it away, and a new one is made.`, { cause })
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
  await rename(temporary, path)
}
