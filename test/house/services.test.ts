import { readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { createSpareWork } from '#src/services.ts'
import { makeServices, readTestConfig, routesOf } from '../support/services.ts'

describe('the services', () => {
  it('are created and closed without a timer, a socket, a thread or a file', async () => {
    const before = process.getActiveResourcesInfo()
    const services = makeServices({}, { REDIS_URL: 'redis://127.0.0.1:1' })
    expect(process.getActiveResourcesInfo()).toEqual(before)
    await services.close()
    expect(process.getActiveResourcesInfo()).toEqual(before)
  })

  it('have one feature of each name, and one that does the work of each queue', () => {
    const { features } = makeServices()
    const names = features.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    const queues = features.flatMap(({ work = {} }) => Object.keys(work))
    expect(queues.toSorted()).toEqual(QUEUE_NAMES.toSorted())
    expect(routesOf({ features }).length).toBeGreaterThan(50)
  })

  it('give a redrive the work of each queue, any number of times, without metrics that the process has by its own work', async () => {
    const registry = new Registry()
    const services = makeServices({ registry })
    const before = Object.keys(await registry.getMetricsAsArray())
    const spareWork = createSpareWork(services, readTestConfig())
    for (const queue of [...QUEUE_NAMES, ...QUEUE_NAMES]) {
      expect(spareWork(queue), queue).toMatchObject({ run: expect.any(Function), onRedrive: expect.any(Function) })
    }
    expect(Object.keys(await registry.getMetricsAsArray())).toEqual(before)
    await services.close()
  })

  it('list the feature of every folder that has a feature.ts', () => {
    const src = resolve(import.meta.dirname, '../../src')
    const folders = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => basename(file) === 'feature.ts' && file.split('/').length === 3)
      .map((file) => basename(dirname(file)))
    const { features } = makeServices()
    const names = new Set(features.map(({ name }) => name))
    expect(folders.filter((folder) => !names.has(folder))).toEqual([])
    // Folders of two products may have one name: then one feature would stand for both. The platform's has no folder.
    expect(features.filter(({ name }) => name !== 'platform')).toHaveLength(folders.length)
  })

  it('accept parts of the platform from the caller', () => {
    const now = () => new Date(0)
    expect(makeServices({ now }).platform.now).toBe(now)
  })
})
