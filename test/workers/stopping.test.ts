import { afterEach, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

describe('a stopping web process', () => {
  let system: System | undefined
  afterEach(() => system?.close())

  it('reports unready to load balancers while it still accepts, and then stops accepting', async () => {
    const started = await startSystem({
      engine: 'postgres',
      only: ['web'],
      environment: { SHUTDOWN_NOTICE_SECONDS: '4' },
    })
    system = started
    const { baseUrl, supervisor } = started
    const ready = `http://127.0.0.1:${supervisor.internalPorts.web}/health/ready`
    const statusOf = async (url: string) => {
      const response = await fetch(url, { headers: { connection: 'close' } })
      await response.text()
      return response.status
    }
    expect(await statusOf(ready)).toBe(200)

    const child = supervisor.children.get('web')
    const exited = new Promise((done) => child?.once('exit', done))
    const signalledAt = performance.now()
    const stopped = supervisor.stop()
    await until(async () => (await statusOf(ready)) === 503)
    expect(await (await fetch(ready)).json()).toEqual({ status: 'stopping' })
    // Requests that come now are still answered, on new connections too.
    expect(await statusOf(`${baseUrl}/health`)).toBe(200)
    await until(() =>
      statusOf(`${baseUrl}/health`).then(
        () => false,
        () => true,
      ),
    )
    expect(performance.now() - signalledAt).toBeGreaterThan(3_900)
    await Promise.all([stopped, exited])
    expect(child?.exitCode).toBe(0)
  })
})
