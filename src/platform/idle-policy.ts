// The scheduling policy SCHED_IDLE of sched(7), for processes whose session has the lowest priority. Where the kernel places a
// thread that wakes up, a processor that runs only such threads counts as free. Otherwise, on two processors, it puts several
// sessions of Postgres on one, while bulk work alone has the other.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * Gives all threads of this process the policy, also those that it starts later. Call it only where the session's priority decides
 * how much of the processors the process gets: alone, the policy would leave it next to nothing, and without privileges it can't be
 * taken back. Does nothing without `chrt` of util-linux.
 */
export function becomeIdle(): void {
  if (!isGroupedBySession()) return
  // Found in the system's directories, and told nothing of the configuration.
  const chrt = spawn('chrt', ['-a', '-i', '-p', '0', String(process.pid)], { stdio: 'ignore', env: {} })
  // Not installed, or refused by a sandbox: the policy is only a preference.
  chrt.on('error', () => {})
  chrt.unref()
}

const MOUNT = '/sys/fs/cgroup'

/**
 * Whether the kernel groups the threads of this process by its session, and not by a cgroup or at all: sched(7), cgroups(7). False when in
 * doubt, as in a container, whose own root looks like that of the machine.
 */
export function isGroupedBySession(
  read: (path: string) => string = readText,
  exists: (path: string) => boolean = existsSync,
): boolean {
  // Switched off, priorities of sessions can still be set, and count for nothing.
  if (read('/proc/sys/kernel/sched_autogroup_enabled').trim() !== '1') return false
  // A line `number:controllers:path` for each hierarchy.
  const cgroups = read('/proc/self/cgroup')
  const lines = cgroups.split('\n').map((line) => line.split(':'))
  const first = lines.find(([, controllers]) => controllers?.split(',').includes('cpu'))
  // Of cgroups of version 1 only the root of a hierarchy has this file.
  if (first !== undefined) return first[2] === '/' && exists(`${MOUNT}/${first[1]}/release_agent`)
  const path = lines.find(([number, controllers]) => number === '0' && controllers === '')?.[2]
  // Of version 2 all but the root have the first file, and those with shares of their own the second.
  if (path === undefined || !exists(`${MOUNT}/cgroup.controllers`) || exists(`${MOUNT}/cgroup.type`)) return false
  const names = path.split('/').filter((name) => name !== '')
  return names.every((_, depth) => !exists([MOUNT, ...names.slice(0, depth + 1), 'cpu.weight'].join('/')))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
