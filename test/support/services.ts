import { type Config, readConfig } from '#src/config.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices, type Services } from '#src/services.ts'

/**
 * The whole service as it is composed in production, on a configuration that connects to nothing: describing it needs
 * no database. `overrides` replaces parts of the platform by real ones.
 */
export function makeServices(overrides: Partial<Platform> = {}, env: NodeJS.ProcessEnv = {}): Services {
  const config = readTestConfig(env)
  return createServices({ config, log: createLog({ process: 'test', level: 'silent' }), overrides })
}

/** A configuration that connects to nothing. */
export function readTestConfig(env: NodeJS.ProcessEnv = {}): Config {
  return readConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BLOB_STORE: 'disk:none',
    ...env,
  })
}

export function routesOf({ features }: Pick<Services, 'features'>): Route[] {
  return features.flatMap(({ routes = [] }) => routes)
}
