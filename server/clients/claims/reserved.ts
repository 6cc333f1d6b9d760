/** Claims that the registry of JWT claims has (RFC 7519 §10.1), and those of OpenID Connect. */
const registered = [
  'iss sub aud exp nbf iat jti name given_name family_name middle_name nickname preferred_username profile',
  'picture website email email_verified gender birthdate zoneinfo locale phone_number phone_number_verified',
  'address updated_at azp nonce auth_time at_hash c_hash s_hash acr amr sub_jwk cnf sid sip_from_tag sip_date',
  'sip_callid sip_cseq_num sip_via_branch orig dest mky events toe txn rph vot vtm attest origid act scope',
  'client_id may_act jcard at_use_nbr div opt vc vp sph ace_profile cnonce exi roles groups entitlements',
  'token_introspection eat_nonce ueid sueids oemid hwmodel hwversion oemboot dbgstat location eat_profile submods',
  'uptime bootcount bootseed dloas swname swversion manifests measurements measres intuse cdniv cdnicrit cdniip',
  'cdniuc cdniets cdnistt cdnistd sig_val_claims authorization_details verified_claims place_of_birth',
  'nationalities birth_family_name birth_given_name birth_middle_name salutation title msisdn also_known_as htm',
  'htu ath atc sub_id rcd rcdi crn msgi rdap_allowed_purposes rdap_dnt_allowed geohash status status_list ttl vct',
  'sd_hash consumerPlmnId consumerSnpnId producerPlmnId producerSnpnId producerSnssaiList producerNsiList',
  'producerNfSetId producerNfServiceSetId sourceNfInstanceId analyticsIdList resOwnerId cmw jwks metadata constraints',
  'crit ref delegation logo_uri authority_hints trust_anchor_hints trust_marks trust_mark_issuers trust_mark_owners',
  'metadata_policy metadata_policy_crit source_endpoint keys trust_mark_type trust_chain trust_anchor stpl',
]

/** Members of the answers of the introspection and token endpoints (RFC 7662 §2.2), and claims of this service. */
const ours = [
  'active username token_type access_token access_token_jwt expires_in refresh_token id_token user organization',
  'user_id claims_omitted grant_id target_resource com_mode',
]

const reserved = new Set([...registered, ...ours].flatMap((names) => names.toLowerCase().split(' ')))

/**
 * Checks whether a claim must not be mapped: because it is registered or ours, or because programs give its name a
 * meaning. Letter case makes no difference: some programs ignore it when they read JSON, and the last member counts.
 */
export function isReservedClaim(claim: string): boolean {
  const name = claim.toLowerCase()
  const isOfPrototype = Object.getOwnPropertyNames(Object.prototype).some((each) => each.toLowerCase() === name)
  return (
    isOfPrototype || name === 'prototype' || name.startsWith('_claim_') || name.startsWith('_sd') || reserved.has(name)
  )
}
