import { z } from 'zod'
import { defineConfig, number, readableBy } from '#src/platform/config-keys.ts'
import { parseStoreAddress } from './address.ts'
import { DEFAULT_SPOOL_BYTES } from './local-files.ts'

export const storeConfig = defineConfig({
  title: 'Media',
  keys: {
    BLOB_STORE: readableBy(z.string(), parseStoreAddress).describe(
      'Where media are: disk:<folder> or s3://<bucket>/<prefix>. See docs/operate/deploy.md#media.',
    ),
    AWS_ACCESS_KEY_ID: z.string().optional().describe('For media on S3; without it the role of the machine or pod.'),
    AWS_SECRET_ACCESS_KEY: z.string().optional().describe('Secret of AWS_ACCESS_KEY_ID.'),
    AWS_SESSION_TOKEN: z.string().optional().describe('Session token of temporary keys.'),
    AWS_REGION: z.string().optional().describe('Region of the bucket, where BLOB_STORE names none.'),
    // An account that is alone gets half: the largest video has 2 GiB.
    S3_SPOOL_MEGABYTES: number
      .min(4_096, 'must be 4096 to 1000000')
      .max(1_000_000, 'must be 4096 to 1000000')
      .default(DEFAULT_SPOOL_BYTES / 1024 ** 2)
      .describe('Disk for local copies of media on S3, of one process; small ones take a fifth more.'),
  },
  // With one of the two keys, the SDK would use the machine's role, which the operator did not intend.
  problems(given) {
    const missing = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((key) => given[key] === undefined)
    return missing.length === 1 ? missing.map((key) => `${key}: is missing, and its other half is there`) : []
  },
})
