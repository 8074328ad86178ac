package main
import "github.com/spf13/cobra"
func newDoctorCommand() *cobra.Command { return &cobra.Command{Use: "doctor"} }
