// Kills or hangs a process at a named step, for tests of what happens between two steps. FAILPOINT=<name>[@<n>] ends
// the process by SIGKILL the n-th time it reaches the step (1 by default); FAILPOINT=<name>@hang never passes it. Off
// by default; the configuration refuses the variable in production.

let armed: { name: string; remaining: number; isHang: boolean } | undefined

export function armFailpoint(setting: string | undefined): void {
  if (!setting) return
  const [name = '', count = '1'] = setting.split('@')
  armed = { name, remaining: Number(count), isHang: count === 'hang' }
}

export function failpoint(name: string): void {
  if (armed?.name !== name || armed.isHang) return
  armed.remaining -= 1
  if (armed.remaining === 0) process.kill(process.pid, 'SIGKILL')
}

/** Undefined when no hang is set, so that the usual path awaits nothing. */
export function hangAt(name: string): Promise<never> | undefined {
  return armed?.name === name && armed.isHang ? new Promise(() => {}) : undefined
}
