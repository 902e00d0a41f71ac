// A way to die at a named step, for tests of crashes between two steps. FAILPOINT=<name>[:<n>] ends the process by
// SIGKILL at the n-th passage (1 by default). Off by default; config refuses the variable in production.

let armed: { name: string; remaining: number } | undefined

export function armFailpoint(setting: string | undefined): void {
  if (!setting) return
  const [name = '', count = '1'] = setting.split(':')
  armed = { name, remaining: Number(count) }
}

export function failpoint(name: string): void {
  if (armed?.name !== name) return
  armed.remaining -= 1
  if (armed.remaining === 0) process.kill(process.pid, 'SIGKILL')
}
