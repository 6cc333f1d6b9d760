import { addressOf } from '../shared/address.ts'
import { connectUrl, type WantedConsent } from './connect-url.ts'
import { readOrganizationReceipt, type WantedOrganizationReceipt } from './organization-receipt.ts'
import { redeem, type Redemption } from './redemption.ts'
import { readLogKeys, readReceipt, type WantedReceipt } from './receipt.ts'
import * as organization from './organization-request.ts'
import { createTokenExchange } from './resource-token.ts'
import * as signing from './signing-request.ts'

export { CountersignError } from '../shared/error.ts'
export {
  verifyReceipt,
  type KeptReceipt,
  type LogKeys,
  type SignedReceipt,
  type Trusted,
  type WantedReceipt,
} from './receipt.ts'
export {
  verifyOrganizationReceipt,
  type SignedOrganizationReceipt,
  type WantedOrganizationReceipt,
} from './organization-receipt.ts'
export { verifySignature, type SignedText } from './signature.ts'
export type { WantedConsent } from './connect-url.ts'
export type {
  MemberSignature,
  NewOrganizationRequest,
  OrganizationOutcome,
  OrganizationRequest,
} from './organization-request.ts'
export type { Grant } from './grant.ts'
export type { SignedIn } from './redemption.ts'
export type { ResourceToken, WantedToken } from './resource-token.ts'
export type { NewSigningRequest, Outcome, SigningRequest } from './signing-request.ts'

export type Settings = {
  /** The API host, such as `https://api.id.example`. */
  baseUrl: string
  /** The issuer, whose pages people see, such as `https://id.example`. */
  authUrl: string
  clientId: string
  clientSecret: string
}

export type Countersign = ReturnType<typeof createCountersign>

/**
 * What one registered app does from its server: it signs people in whom its page has asked, asks them to sign, and acts
 * for them at the apps of others.
 */
export function createCountersign({ baseUrl, authUrl, clientId, clientSecret }: Settings) {
  if (!clientId || !clientSecret) throw new TypeError('clientId and clientSecret are those of the registered app')
  const hosts = { baseUrl: addressOf('baseUrl', baseUrl), authUrl: addressOf('authUrl', authUrl) }
  const app = { ...hosts, clientId, clientSecret }
  const redeeming = { base: hosts.baseUrl, issuer: hosts.authUrl, clientId, clientSecret }
  return {
    /** What the page of the app was given by `signIn`, as it came from there. */
    redeemSignIn: (grant: unknown, options: Redemption = {}) => redeem(redeeming, grant, options),
    createSigningRequest: (wanted: signing.NewSigningRequest) => signing.createSigningRequest(app, wanted),
    waitForSignature: (request: signing.SigningRequest, options: signing.Waiting = {}) =>
      signing.waitForSignature(app, request, options),
    /** The keys of the log, by which receipts are verified: read them once, and keep them apart from receipts. */
    readLogKeys: () => readLogKeys(app),
    readReceipt: (wanted: WantedReceipt) => readReceipt(app, wanted),
    createOrganizationRequest: (wanted: organization.NewOrganizationRequest) =>
      organization.createOrganizationRequest(app, wanted),
    waitForOrganization: (request: organization.OrganizationRequest, options: signing.Waiting = {}) =>
      organization.waitForOrganization(app, request, options),
    readOrganizationReceipt: (wanted: WantedOrganizationReceipt) => readOrganizationReceipt(app, wanted),
    connectUrl: (wanted: WantedConsent) => connectUrl(app, wanted),
    ...createTokenExchange(app),
  }
}
