package policy

// WallState says whether a wall is up.
type WallState string

// The states of a wall.
const (
	Enforced WallState = "enforced"
	Missing  WallState = "missing"
)

// WallStatus is the state of one wall. Detail says how an enforced wall is made ("ABI 7"),
// and why a missing one is missing.
type WallStatus struct {
	State  WallState `json:"state"`
	Detail string    `json:"detail,omitempty"`
}

// EnforcedWall is the status of a wall that is up.
func EnforcedWall(detail string) WallStatus { return WallStatus{Enforced, detail} }

// MissingWall is the status of a wall that is not up.
func MissingWall(why string) WallStatus { return WallStatus{Missing, why} }

// Enforced reports whether the wall is up.
func (s WallStatus) Enforced() bool { return s.State == Enforced }

// String is the form for people: "enforced (ABI 7)", "missing: why".
func (s WallStatus) String() string {
	switch {
	case s.Detail == "":
		return string(s.State)
	case s.Enforced():
		return string(s.State) + " (" + s.Detail + ")"
	}
	return string(s.State) + ": " + s.Detail
}
