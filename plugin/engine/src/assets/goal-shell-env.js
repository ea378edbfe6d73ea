// Commands that the agent runs inherit the server's environment. This blanks the server's password
// and the configuration that was handed over in a variable, so that no command can read them.
const hidden = ["OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME", "OPENCODE_CONFIG_CONTENT"]

export const GoalShellEnv = async () => ({
  "shell.env": async (_input, output) => {
    for (const name of hidden) output.env[name] = ""
  },
})
