import { z } from 'zod'
import { defineConfig, httpAddress, list, port, readableBy } from '#src/platform/config-keys.ts'
import { parseAddressRange } from './client-address.ts'

const hostNames = list.pipe(
  z.array(z.string().regex(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i, 'must be host names, separated by commas')),
)

export const httpConfig = defineConfig({
  title: 'HTTP and the internal port',
  keys: {
    BASE_URL: httpAddress.optional().describe('The public address, for links in answers.'),
    HOST: z.string().default('127.0.0.1').describe('Address that the API listens on; 0.0.0.0 in a container.'),
    PORT: port.default(8080).describe('Public port of the API.'),
    TRUSTED_PROXIES: readableBy(list, (ranges) => ranges.map(parseAddressRange)).describe(
      'Addresses or ranges (10.0.0.0/8) of the proxies in front: their X-Forwarded-For names the caller’s address.',
    ),
    INTERNAL_HOST: z.string().default('127.0.0.1').describe('Address of the internal port; never a public one.'),
    INTERNAL_HOSTS: hostNames.describe(
      'Names by which the internal port may be asked, besides addresses and localhost. Other names are refused.',
    ),
    INTERNAL_PORT: port
      .default(9090)
      .describe(
        '/metrics and /health/ready of this process. Several on one machine need several; 0 takes a free one, and the log says which.',
      ),
    BULL_BOARD_PASSWORD: z
      .string()
      .min(12, 'must have 12 characters at least')
      .optional()
      .describe(
        'Allows its holder to pause queues on the board of the internal port and to see and redrive dead jobs; without one it is read-only.',
      ),
  },
  problems({ MODE, BASE_URL }) {
    if (MODE !== 'production') return []
    if (BASE_URL === undefined) return ['BASE_URL: is missing. Production must know its public address.']
    return URL.parse(BASE_URL)?.protocol === 'http:'
      ? ['BASE_URL: must be https in production, keys and captures are sent to it']
      : []
  },
})
