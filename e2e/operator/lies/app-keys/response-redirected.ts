import { defineLie, rewriteAnswer } from '../../lie.ts'

/** Leads the browser to another site than the app's when the user has consented. */
export const responseRedirected = defineLie<{ from: string; to: string }>({
  answers: ({ from, to }) =>
    rewriteAnswer('POST /api/oauth/authorize', (answer) => ({
      ...answer,
      redirectUrl: answer.redirectUrl.replace(from, to),
    })),
})
