import * as client from 'openid-client'

const marginMilliseconds = 60_000

/** Somebody who has signed in, with the tokens by which the assistant speaks for them. */
export function createPerson(config, tokens) {
  const { sub: identityId, name } = tokens.claims()
  let kept = keep(tokens)
  let refreshing

  async function refresh() {
    kept = keep({ ...kept, ...(await client.refreshTokenGrant(config, kept.refresh_token)) })
  }

  return {
    identityId,
    name,
    idToken: tokens.id_token,
    /** Names the user on whose behalf the assistant acts. Valid for an hour; the refresh token gets the next one. */
    async readSubjectToken() {
      if (Date.now() > kept.freshUntil) {
        refreshing ??= refresh().finally(() => (refreshing = undefined))
        await refreshing
      }
      return kept.access_token_jwt
    },
  }
}

function keep(tokens) {
  return { ...tokens, freshUntil: Date.now() + tokens.expires_in * 1000 - marginMilliseconds }
}
