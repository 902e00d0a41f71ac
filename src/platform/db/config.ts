import { z } from 'zod'
import { count, defineConfig, onOff } from '#src/platform/config-keys.ts'

export const databaseConfig = defineConfig({
  title: 'Postgres',
  keys: {
    DATABASE_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: 'must be postgres://user:password@host:port/database' })
      .describe('The service’s own login, bound by row-level security.'),
    DATABASE_POOL: count(4).describe(
      'Connections per process for requests and jobs, of which one account uses all but one at most; 2 more are for keys and leases.',
    ),
    DATABASE_DRIVER_INTERNALS: onOff.describe(
      'Whether statements are sent by way of internals of the Postgres driver; off is slower and works with every version of it.',
    ),
  },
})
