import { defineLie, rewriteAnswer } from '../../lie.ts'

/** Leaves the entries of an identity out of all answers. The signed head of the log still contains them. */
export const entryLeftOut = defineLie<{ identityId: string; publicKey: string }>({
  answers: ({ identityId, publicKey }) => ({
    ...rewriteAnswer('GET /api/transparency/identities/:identityId', (answer, parameters) =>
      parameters['identityId'] === identityId ? { ...answer, events: [] } : answer,
    ),
    ...rewriteAnswer('GET /api/transparency/leaves', (answer) => ({
      ...answer,
      leaves: answer.leaves.filter(({ leaf }) => !leaf.includes(publicKey)),
    })),
  }),
})
