import { describe, expect, it } from 'vitest'
import { isGroupedBySession } from '#src/platform/idle-policy.ts'

describe('whether sessions share the processors, and not cgroups', () => {
  const ENABLED = '/proc/sys/kernel/sched_autogroup_enabled'
  const V1 = '3:cpuset:/\n2:cpu,cpuacct:/\n1:name=systemd:/user.slice\n0::/\n'
  const V2 = '0::/user.slice/session.scope\n'
  const controllers = '/sys/fs/cgroup/cgroup.controllers'
  const weight = (path: string) => `/sys/fs/cgroup${path}/cpu.weight`

  it.each([
    ['in the root of version 1', V1, ['/sys/fs/cgroup/cpu,cpuacct/release_agent'], true],
    ['in what a container takes for the root of version 1', V1, [], false],
    [
      'in a cgroup of version 1',
      V1.replace('cpuacct:/', 'cpuacct:/docker/1'),
      ['/sys/fs/cgroup/cpu/release_agent'],
      false,
    ],
    ['in the root of version 2', '0::/\n', [controllers], true],
    [
      'in what a container takes for the root of version 2',
      '0::/\n',
      [controllers, '/sys/fs/cgroup/cgroup.type'],
      false,
    ],
    ['in a cgroup of version 2 without shares', V2, [controllers, weight('')], true],
    ['in a cgroup of version 2 with shares', V2, [controllers, weight('/user.slice/session.scope')], false],
    ['below a cgroup of version 2 with shares', V2, [controllers, weight('/user.slice')], false],
    ['where cgroups of version 2 are not mounted', V2, [], false],
    ['where nothing tells of cgroups', '', [controllers], false],
  ])('is known of a process %s', (_, cgroups, files, expected) => {
    const texts = { [ENABLED]: '1\n', '/proc/self/cgroup': cgroups }
    const isGrouped = (given: Record<string, string>) =>
      isGroupedBySession(
        (path) => given[path] ?? '',
        (path) => files.includes(path),
      )
    expect(isGrouped(texts)).toBe(expected)
    // Switched off, or a kernel without it.
    for (const setting of ['0\n', '']) expect(isGrouped({ ...texts, [ENABLED]: setting })).toBe(false)
  })
})
