import type { StoreAddress } from './address.ts'
import type { BlobStore } from './blobs.ts'
import { createDiskStore } from './disk.ts'
import { DEFAULT_SPOOL_BYTES } from './local-files.ts'
import { createS3Store } from './s3.ts'
import type { S3Access } from './s3-bucket.ts'

// The region that servers other than Amazon's accept, although they have none.
const NO_REGION = 'us-east-1'

/** `region` applies to an address that names none, `maxSpoolBytes` to one on S3. */
export function openStore(
  address: StoreAddress,
  {
    credentials,
    region,
    maxSpoolBytes = DEFAULT_SPOOL_BYTES,
  }: { credentials?: S3Access['credentials']; region?: string | undefined; maxSpoolBytes?: number } = {},
): BlobStore {
  if (address.kind === 'disk') return createDiskStore({ root: address.root })
  return createS3Store({ ...address, region: address.region ?? region ?? NO_REGION, credentials, maxSpoolBytes })
}
