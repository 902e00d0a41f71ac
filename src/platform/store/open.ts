import type { StoreAddress } from './address.ts'
import type { BlobStore } from './blobs.ts'
import { createDiskStore } from './disk.ts'
import { createS3Store } from './s3.ts'
import type { S3Access } from './s3-bucket.ts'

// What other servers than Amazon's call the region that they don't have.
const NO_REGION = 'us-east-1'

/** `region` is for an address that says none. */
export function openStore(
  address: StoreAddress,
  { credentials, region }: { credentials?: S3Access['credentials']; region?: string | undefined } = {},
): BlobStore {
  if (address.kind === 'disk') return createDiskStore({ root: address.root })
  return createS3Store({ ...address, region: address.region ?? region ?? NO_REGION, credentials })
}
